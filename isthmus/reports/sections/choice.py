"""What was chosen by cross-validation: the method, and its number of components."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from isthmus.inspection import ComponentCurveDisplay, ExplainedVarianceDisplay
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.page import Figure, Section

_ANSWERS = (
    "Three answers to the same question, judged on the same rows left out. Size is how many numbers the "
    "model holds; the last column is what an answer gains over the simple one."
)


def answer_rows(search: Any) -> list[list[str]]:
    """For each answer: its method, score, size and speed."""
    return [
        [
            name,
            told["label"],
            f"{told['score']:.4f} ± {told['standard_error']:.4f}",
            f"{told['numbers']:,}",
            f"{told['rows_per_second']:,.0f}",
        ]
        for name, told in search.answers_.items()
    ]


def _answer_gains(search: Any) -> list[list[str]]:
    """The same with the chosen one marked, and what each gains over the simple one."""
    simple = search.answers_.get("simple", {}).get("score", np.nan)
    rows = []
    for row, told in zip(answer_rows(search), search.answers_.values()):
        mark = " (chosen)" if row[0] == search.prefer else ""
        gain = f"{told['score'] - simple:+.4f}" if np.isfinite(simple) else ""
        rows.append([row[0] + mark, *row[1:], gain])
    return rows


def comparison(data: ReportData) -> Section:
    """All methods, with the rule that chose one of them."""
    in_time = ", later rows predicted from earlier ones" if data.compares_in_time else ""
    text = [
        f"Nested cross-validation with {data.search.n_splits_} outer folds{in_time}: every method "
        "chose its settings in inner folds of the training rows and predicted each row of the outer fold "
        "once."
    ]
    if data.is_in_time and not data.compares_in_time:
        text.append(
            "Rows were dealt to these folds at random. The answer was then judged by later rows, predicted "
            f"from earlier ones: {data.score_name} {data.search.best_score_:.3f} ± {data.score_error:.3f}."
        )
    told = (
        "The same in numbers, with standard errors over the folds. Differences from the best are taken "
        "fold by fold: rows that are hard for all methods cancel."
    )
    header = [
        "method",
        data.score_name,
        "difference from best",
        "seconds per fit",
        "rows/s predicted",
    ]
    tables = [(told, header, _method_rows(data.search))]
    if getattr(data.search, "answers_", None):
        own = ["answer", "method", data.score_name, "size", "rows/s predicted", "gain over simple"]
        tables.insert(0, (_ANSWERS, own, _answer_gains(data.search)))
    figure = _method_scores(data.search, data.score_name)
    return Section("Comparison of methods", text, [figure], tables)


def _method_scores(search: Any, score_name: str) -> Figure:
    results = search.cv_results_
    done = [k for k, status in enumerate(results["status"]) if status == "done"][::-1]
    labels = [
        "<br>".join(fig.plain(wrap(results["label"][k], 18))) for k in done
    ]  # room for a phone
    colours = [
        fig.SECOND if results["method"][k] == search.best_method_ else fig.ACCENT for k in done
    ]
    scores = results["mean_test_score"]
    errors = results["standard_error"]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": fig.numbers(scores[done]),
        "y": labels,
        "error_x": {"type": "data", "array": fig.numbers(errors[done]), "color": fig.MUTED},
        "marker": {"size": 11, "color": colours},
        "hovertemplate": "%{y}: %{x}<extra></extra>",
        "showlegend": False,
    }
    best = int(np.nanargmax(scores))
    # The one-standard-error rule, drawn whether or not it chose.
    bound = float(scores[best] - errors[best])
    rule = fig.line([bound, bound], [0, 0], fig.WARN, "dash")
    rule["y"] = [labels[0], labels[-1]]
    rules = {
        "simple": "the simplest of them (in orange) was chosen.",
        "small": "the best map of low rank (in orange) was chosen.",
    }
    chosen = "the most accurate answer (in orange) was chosen."
    if search.best_method_ == "blend":
        chosen = (
            "the blend (in orange) was chosen. A single method replaces it only if it is better by two "
            "standard errors: the best of several methods owes part of its score to luck."
        )
    scale = "; 1 is perfect, 0 the mean" if score_name == "R2" else "; more is better"
    caption = (
        f"The methods with their standard errors over the folds{scale}. All that reach the "
        "dashed line are within one standard error of the best; " + rules.get(search.prefer, chosen)
    )
    lay = fig.layout(f"{score_name} in cross-validation", "")
    # Room for a label of two lines per method.
    height = 150 + 44 * len(done)
    return Figure("comparison", caption, [("", [points, rule], lay)], height=height)


def _method_rows(search: Any) -> list[list[str]]:
    results = search.cv_results_
    scores = results["mean_test_score"]
    errors = results["standard_error"]
    rows = []
    for k, state in enumerate(results["status"]):
        mark = " (chosen)" if results["method"][k] == search.best_method_ else ""
        rows.append(
            [
                results["label"][k] + mark,
                f"{scores[k]:.4f} ± {errors[k]:.4f}" if state == "done" else state,
                _difference_from_best(results, k),
                fig.short(results["mean_fit_time"][k]),
                f"{results['rows_per_second'][k]:,.0f}" if state == "done" else "",
            ]
        )
    return rows


def _difference_from_best(results: dict[str, Any], k: int) -> str:
    """Mean and standard error of the differences to the best method over the folds."""
    mean = results.get("difference_to_best", [np.nan] * (k + 1))[k]  # files of before have none
    if not np.isfinite(mean):
        return ""
    error = results["difference_standard_error"][k]
    return "best" if mean == error == 0 else f"{mean:.4f} ± {error:.4f}"


def components(data: ReportData) -> Section | None:
    """How many components, and what they explain."""
    section = Section("Number of components", list(data.note_on_model))
    if data.search.curves_ and len(data.search.curves_["n_components"]) > 1:
        section.figures.append(_component_scores(ComponentCurveDisplay.compute(data.search)))
    if data.is_latent and data.model.n_components_ > 0:
        section.figures.append(_explained_figure(ExplainedVarianceDisplay.compute(data.model)))
    return section if section.figures else None


def _component_scores(curve: ComponentCurveDisplay) -> Figure:
    caption = (
        f"Cross-validated score by number of components, with standard errors. The "
        f"ring marks the choice, {curve.chosen}. "
        "A curve that falls again to the right is overfitting."
    )
    return Figure("components", caption, [("", *fig.rank_scores(curve))])


def _explained_figure(shares: ExplainedVarianceDisplay) -> Figure:
    steps = np.arange(1, len(shares.x) + 1)
    traces = [
        fig.curve(
            steps, 100 * np.cumsum(np.asarray(values)),
            f"%{{x}} components: %{{y}} % of the {label}", tone, name=label,
        )
        for values, label, tone in (
            (shares.x, "inputs", fig.ACCENT),
            (shares.y, "outputs", fig.SECOND),
        )
    ]  # fmt: skip
    caption = (
        "How much of the variance of the training rows the components explain together. If "
        "the outputs are well explained and the inputs are not, predictions depend on fine detail."
    )
    lay = fig.whole_steps(fig.layout("number of components", "% explained"), len(steps))
    return Figure("explained", caption, [("", traces, lay)])

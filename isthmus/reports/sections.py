"""What the report of a model has in it."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.compression import compress
from isthmus.linalg import Array
from isthmus.plotting import (
    ComponentCurveDisplay,
    ExplainedVarianceDisplay,
    LoadingsDisplay,
    ScoresDisplay,
    VIPDisplay,
)
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.kernel_models import expansion_model, kernel_scores, sensitivity
from isthmus.reports.page import Figure, Section
from isthmus.reports.pictures import png_uri

_MOST_ROWS = 30
_MOST_PICTURES = 12
_MOST_COMPRESSED = 2000
_MOST_BARS = 40


def all_sections(data: ReportData) -> list[Section]:
    """The report, section by section; what does not apply is left out."""
    made = [
        summary(data), at_a_glance(data), comparison(data), components(data), parity(data),
        scores(data), loadings(data), pictures(data), kernel_points(data), method(data), again(data),
    ]  # fmt: skip
    return [section for section in made if section is not None]


def _short(value: float) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.4g}"


def summary(data: ReportData) -> Section:
    search, results = data.search, data.search.cv_results_
    chosen = results["method"].index(search.best_method_)
    error = results["standard_error"][chosen]
    cards = [
        ("method chosen", search.method_["label"]),
        ("explained in cross-validation (R2)", f"{search.best_score_:.3f} ± {error:.3f}"),
        ("rows, inputs, outputs of the fit",
         f"{search.n_samples_} by {search.n_features_in_} → {len(search.target_names_)}"),
    ]  # fmt: skip
    rank = data.search.rank_
    if rank is not None:
        cards.append(("components", str(rank)))
    if "alpha" in search.best_params_:
        cards.append(("ridge weight", _short(float(search.best_params_["alpha"]))))
    r2 = float(np.mean([display.r2 for display in data.by_output]))
    text = [
        f"On these data the model explains {100 * r2:.1f} % of the variance of the outputs, "
        f"{data.kind}. 100 % is perfect, 0 % is no better than the mean."
    ]
    if search.best_score_ - error <= search.baseline_score_:
        text.append(
            "The chosen model is not clearly better than predicting the mean: these inputs may say "
            "nothing about these outputs."
        )
    return Section("Summary", text, cards=cards)


def at_a_glance(data: ReportData) -> Section:
    holes_x, holes_y = (100 * float(np.isnan(a).mean()) for a in (data.X, data.Y))
    constant = int((np.nanmax(data.X, axis=0) == np.nanmin(data.X, axis=0)).sum())
    scaled = "divided by their standard deviations" if data.search.scale_ else "left in their units"
    text = [
        f"{data.n} rows; {data.p} inputs, of which {constant} never vary; {data.q} outputs. "
        f"{holes_x:.2g} % of the input values and {holes_y:.2g} % of the output values are missing. "
        f"Input columns were centred and {scaled}, with the numbers of the training rows of each fold."
    ]
    section = Section("Data at a glance", text)
    at, names, is_curve = data.axis
    if data.image_shape is not None:
        mean, spread = np.nanmean(data.X, axis=0), np.nanstd(data.X, axis=0)
        rows = [(label, [png_uri(a.reshape(data.image_shape))])
                for label, a in (("mean", mean), ("spread", spread))]  # fmt: skip
        rows.append(("some rows", [png_uri(x.reshape(data.image_shape))
                                   for x in data.X[:_MOST_PICTURES]]))  # fmt: skip
        section.pictures.append(
            ("Inputs as pictures: their mean, their spread, the first rows.", rows)
        )
    elif is_curve:
        section.figures.append(_curve_figure(data, at))
    else:
        section.tables.append(_column_table("Inputs", names, data.X))
    section.figures.append(_histograms(data))
    section.tables.append(_column_table("Outputs", data.search.target_names_, data.Y))
    return section


def _curve_figure(data: ReportData, at: Array) -> Figure:
    levels = np.nanquantile(data.X, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    labels = ("5 %", "25 %", "median", "75 %", "95 %")
    tones = (fig.MUTED, fig.SECOND, fig.ACCENT, fig.SECOND, fig.MUTED)
    traces = [
        fig.line(at, row, tone, name=label, hoverinfo="x+y+name")
        for row, label, tone in zip(levels, labels, tones)
    ]
    caption = (
        "The input curves: median, and the bands that hold half and nine tenths of the rows at each "
        "point. A band that opens or a level that jumps points to scatter or drift."
    )
    return Figure("inputs", caption, [("", traces, fig.layout("column", "value"))])


def _histograms(data: ReportData) -> Figure:
    variants = []
    for label, j in data.shown_outputs:
        values = data.Y[:, j][np.isfinite(data.Y[:, j])]
        counts, edges = np.histogram(values, bins="auto" if len(values) > 1 else 1)
        if len(counts) > 80:
            counts, edges = np.histogram(values, bins=80)
        bars = {
            "type": "bar",
            "x": fig.numbers((edges[1:] + edges[:-1]) / 2),
            "y": fig.numbers(counts),
            "width": fig.numbers(np.diff(edges)),
            "marker": {"color": fig.ACCENT},
            "hovertemplate": "%{x}: %{y} rows<extra></extra>",
        }
        name = fig.plain([data.search.target_names_[j]])[0]
        variants.append((label, [bars], fig.layout(name, "rows")))
    caption = (
        "How the values of an output are spread. Gaps, spikes and far tails are what a model finds "
        "hardest; values far from the others weigh most in a least squares fit."
    )
    return Figure("histogram", caption, variants, selector="Output", height=300)


def _column_table(title: str, names: list[str], A: Array) -> tuple[str, list[str], list[list[str]]]:
    shown = min(len(names), _MOST_ROWS)
    rows = []
    for j in range(shown):
        column = A[:, j]
        values = column[np.isfinite(column)]
        stats = (values.min(), np.median(values), values.max(), values.std()) if len(values) else ()
        rows.append(
            [names[j], *(_short(float(v)) for v in stats), str(int(np.isnan(column).sum()))]
        )
    caption = f"{title}: range and spread of each column"
    if shown < len(names):
        caption += f" (the first {shown} of {len(names)})"
    return caption, ["column", "least", "median", "largest", "std", "missing"], rows


def comparison(data: ReportData) -> Section:
    search, results = data.search, data.search.cv_results_
    done = [k for k, status in enumerate(results["status"]) if status == "done"][::-1]
    labels = ["<br>".join(wrap(results["label"][k], 18)) for k in done]  # room for a phone
    colours = [
        fig.SECOND if results["method"][k] == search.best_method_ else fig.ACCENT for k in done
    ]
    scores, errors = results["mean_test_score"], results["standard_error"]
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
    bound = float(scores[best] - errors[best])
    rule = fig.line([bound, bound], [0, 0], fig.WARN, "dash")
    rule["y"] = [labels[0], labels[-1]]
    lay = fig.layout("R2 in cross-validation", "")
    caption = (
        "The methods with their standard errors over the folds; 1 is perfect, 0 the mean. All that reach "
        "the dashed line are within one standard error of the best; the simplest of them (lowest on "
        "the ladder, in orange) was chosen."
    )
    height = 150 + 44 * len(done)
    rows = []
    for k in range(len(results["method"])):
        mark = " (chosen)" if results["method"][k] == search.best_method_ else ""
        state = results["status"][k]
        rows.append(
            [
                results["label"][k] + mark,
                f"{scores[k]:.4f} ± {errors[k]:.4f}" if state == "done" else state,
                _paired(results, k),
                _short(results["mean_fit_time"][k]),
                f"{results['rows_per_second'][k]:,.0f}" if state == "done" else "",
            ]
        )
    header = ["method", "R2", "less the best", "seconds a fit", "rows/s predicted"]
    text = [
        f"Nested cross-validation with {search.n_splits_} outer folds: every method chose its own "
        "numbers in inner folds of the training rows, and predicted the rows that were left out once."
    ]
    told = (
        "The same in numbers, with standard errors over the folds. Differences to the best are taken "
        "fold by fold: what all methods find hard cancels."
    )
    figure = Figure("comparison", caption, [("", [points, rule], lay)], height=height)
    return Section("Comparison of methods", text, [figure], [(told, header, rows)])


def _paired(results: dict[str, Any], k: int) -> str:
    """Mean and standard error of the differences to the best method over the folds."""
    mean = results.get("difference_to_best", [np.nan] * (k + 1))[k]  # files of before have none
    if not np.isfinite(mean):
        return ""
    error = results["difference_standard_error"][k]
    return "best" if mean == error == 0 else f"{mean:.4f} ± {error:.4f}"


def components(data: ReportData) -> Section | None:
    section = Section("Number of components")
    if data.search.curves_ and len(data.search.curves_["n_components"]) > 1:
        curve = ComponentCurveDisplay.compute(data.search)
        trace = {
            "type": "scatter",
            "mode": "lines+markers",
            "x": fig.numbers(curve.n_components),
            "y": fig.numbers(curve.score),
            "error_y": {
                "type": "data",
                "array": fig.numbers(curve.standard_error),
                "color": fig.MUTED,
            },
            "line": {"color": fig.ACCENT},
            "hovertemplate": "%{x} components: %{y}<extra></extra>",
            "showlegend": False,
        }
        at = int(np.flatnonzero(curve.n_components == curve.chosen)[0])
        ring = fig.markers(
            [curve.chosen], curve.score[[at]], ["chosen"], "%{x} components",
            marker={"size": 16, "color": fig.SECOND, "symbol": "circle-open", "line": {"width": 3}},
        )  # fmt: skip
        caption = (
            f"The score of every number of components in cross-validation, with standard errors. The "
            f"ring marks the choice, {curve.chosen}: the fewest within one standard error of the best. "
            "A curve that falls again to the right is overfitting."
        )
        lay = fig.layout("number of components", "score in cross-validation")
        if curve.n_components.max() <= 12:
            lay["xaxis"]["dtick"] = 1
        section.figures.append(Figure("components", caption, [("", [trace, ring], lay)]))
    if data.is_latent and data.model.n_components_ > 0:
        shares = ExplainedVarianceDisplay.compute(data.model)
        steps = np.arange(1, len(shares.x) + 1)
        traces = []
        for values, label, tone in (
            (shares.x, "inputs", fig.ACCENT),
            (shares.y, "outputs", fig.SECOND),
        ):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "x": fig.numbers(steps),
                    "y": fig.numbers(100 * np.cumsum(np.asarray(values))),
                    "name": label,
                    "line": {"color": tone},
                    "hovertemplate": f"%{{x}} components: %{{y}} % of the {label}<extra></extra>",
                }
            )
        caption = (
            "How much of the variance of the training rows the components explain together. Outputs "
            "well explained by components that explain little of the inputs hang on fine detail."
        )
        lay = fig.layout("number of components", "% explained")
        if len(steps) <= 12:
            lay["xaxis"]["dtick"] = 1
        section.figures.append(Figure("explained", caption, [("", traces, lay)]))
    return section if section.figures else None


def parity(data: ReportData) -> Section:
    rows = data.shown_rows
    names = data.names_of(rows)
    parities, residuals, notes = [], [], []
    for label, j in data.shown_outputs:
        display = data.by_output[j]
        name = fig.plain([display.name])[0]
        observed, predicted = display.observed[rows], display.predicted[rows]
        both = np.concatenate([observed, predicted])
        ends = [float(np.nanmin(both)), float(np.nanmax(both))]
        points = fig.markers(observed, predicted, names, "observed %{x}<br>predicted %{y}")
        diagonal = fig.line(ends, ends, fig.MUTED, "dash")
        parities.append(
            (label, [diagonal, points], fig.layout(f"{name}, observed", f"{name}, predicted"))
        )
        rest = fig.markers(
            predicted, observed - predicted, names, "predicted %{x}<br>residual %{y}"
        )
        span = [float(np.nanmin(predicted)), float(np.nanmax(predicted))]
        zero = fig.line(span, [0, 0], fig.MUTED, "dash")
        residuals.append(
            (label, [zero, rest], fig.layout(f"{name}, predicted", "observed - predicted"))
        )
        notes.append(
            f"{display.name}: R2 {display.r2:.3f}, root mean squared error {display.rmse:.4g}"
        )
    some = "" if len(rows) == data.n else f" {len(rows)} of {data.n} rows are drawn, evenly chosen."
    section = Section(
        "Predictions",
        [f"Shown: {data.kind}.{some}"],
        [
            Figure("parity", "Predicted against observed: a perfect model has all points on the "
                   "diagonal; points far off are rows to look at, a bent cloud asks for a method that "
                   "bends.", parities, "Output", notes=notes),
            Figure("residuals", "Residuals: they should scatter evenly about zero. A trend or a funnel "
                   "says that something is left to be explained, or that errors grow with the value.",
                   residuals, "Output", notes=notes),
        ],
    )  # fmt: skip
    if data.q > 1:
        section.figures.append(_by_output_figure(data))
    return section


def _by_output_figure(data: ReportData) -> Figure:
    order = np.argsort([display.r2 for display in data.by_output], kind="stable")[::-1]
    names = [data.search.target_names_[j] for j in order]
    values = [max(data.by_output[j].r2, -1.0) for j in order]
    few = len(names) <= 12
    bars = {
        "type": "bar",
        "x": fig.plain(names) if few else list(range(1, len(names) + 1)),
        "y": fig.numbers(values),
        "text": fig.plain(names),
        "textposition": "none",
        "marker": {"color": fig.ACCENT},
        "hovertemplate": "%{text}: R2 %{y}<extra></extra>",
    }
    caption = (
        "The outputs from the best to the worst explained. Those near or below zero are not predicted "
        "by these inputs (bars end at -1)."
    )
    return Figure(
        "outputs",
        caption,
        [("", [bars], fig.layout("output" if few else "rank of the output", "R2"))],
        height=300,
    )


def scores(data: ReportData) -> Section | None:
    title = "Scores and outliers"
    if data.is_latent and data.model.n_components_ == 0:
        return Section(
            title, ["The model has no components: it predicts the mean, and has no scores."]
        )
    if not data.is_latent and not data.is_kernel:
        return Section(title, ["This method has no components, so that there are no scores."])
    training = data.cv_predictions is not None
    compute = ScoresDisplay.compute if data.is_latent else kernel_scores
    try:
        display = compute(data.model, data.complete, training=training)
    except ValueError as error:  # too few rows for a limit
        return Section(title, [f"There are no limits for scores: {error}"])
    out = np.flatnonzero(display.outlying)
    rows = np.union1d(data.shown_rows, out[:500])
    names, T = data.names_of(rows), display.scores[rows]
    angle = np.linspace(0, 2 * np.pi, 120)
    ellipse = fig.line(
        display.radii[0] * np.cos(angle), display.radii[1] * np.sin(angle), fig.WARN, "dot"
    )
    rings = fig.markers(
        display.scores[out][:, 0], display.scores[out][:, 1], data.names_of(out), "outlying",
        marker={"size": 13, "color": fig.WARN, "symbol": "circle-open"},
    )  # fmt: skip
    variants = []
    for label, j in data.shown_outputs:
        marker = {"color": fig.numbers(data.Y[rows, j]), "colorscale": "Viridis", "showscale": True,
                  "size": 7, "opacity": 0.9, "colorbar": {"thickness": 10, "len": 0.9}}  # fmt: skip
        points = fig.markers(
            T[:, 0], T[:, 1], names, "(%{x}, %{y})<br>output %{marker.color}", marker=marker
        )
        a, b = display.components
        word = "component" if data.is_latent else "function"
        second = f"{word} {b + 1}" if b != a else f"(one {word} only)"
        variants.append((label, [ellipse, points, rings], fig.layout(f"{word} {a + 1}", second)))
    plane, limits = (
        ("first two components", "T2 or of Q") if data.is_latent else
        ("two main functions of the kernel expansion", "T2")
    )  # fmt: skip
    caption = (
        f"Rows in the plane of the {plane}, coloured by an output: a colour that runs across the cloud "
        "is what the model uses. The dotted ellipse holds 95 % of ordinary rows; ringed rows exceed the "
        f"limit of {limits}."
    )
    section = Section(title, figures=[Figure("scores", caption, variants, "Coloured by")])
    if display.q is not None:
        section.figures.append(_influence(data, display, rows))
    by_chance = "one in ten" if display.q is not None else "one in twenty"
    if len(out):
        listed = ", ".join(data.names_of(out[:40])) + (" ..." if len(out) > 40 else "")
        share = 100 * len(out) / data.n
        section.text.append(
            f"{len(out)} rows ({share:.1f} %) exceed a 95 % limit; about {by_chance} would by "
            f"chance: {listed}."
        )
    else:
        section.text.append("No row exceeds the 95 % limits.")
    if display.q is None:
        section.text.append(
            "There are no Q residuals: a kernel map keeps every direction of the training rows, so that "
            "none of them lies outside of it."
            if data.is_kernel else
            "There are no Q residuals: as many components as rows leave nothing over."
        )  # fmt: skip
    return section


def _influence(data: ReportData, display: ScoresDisplay, rows: NDArray) -> Figure:
    t2, q = display.t2, display.q
    points = fig.markers(
        t2.values[rows], q.values[rows], data.names_of(rows), "T2 %{x}<br>Q %{y}",
        marker={"color": [fig.WARN if o else fig.ACCENT for o in display.outlying[rows]]},
    )  # fmt: skip
    top = [float(t2.values.max()) * 1.05, float(q.values.max()) * 1.05]
    traces = [
        fig.line([t2.limit, t2.limit], [0, max(top[1], q.limit)], fig.WARN, "dash"),
        fig.line([0, max(top[0], t2.limit)], [q.limit, q.limit], fig.WARN, "dash"),
        points,
    ]
    caption = (
        "Outliers: far to the right is extreme within the model (T2), far up is not described by it "
        "(Q). Dashed lines are the 95 % limits; a row beyond both pulls the model and does not fit it."
    )
    return Figure("influence", caption, [("", traces, fig.layout("Hotelling's T2", "Q residual"))])


def loadings(data: ReportData) -> Section | None:
    if data.is_kernel:
        return _kernel_inputs(data)
    if not data.is_latent or data.model.n_components_ == 0 or data.image_shape is not None:
        return None
    section = Section("Which inputs matter")
    importance = VIPDisplay.compute(data.model).importance
    section.text.append(f"Most important by VIP: {_most_important(data, importance)}.")
    caption = (
        "Importance of each input (VIP): above the dashed line at one, an input matters more than the "
        "average."
    )
    order = _shown_inputs(data, importance)
    section.figures.append(_importance_figure(data, importance, order, caption, "VIP"))
    at, names, is_curve = data.axis
    shown = [names[j] for j in order]
    variants = []
    for k, row in enumerate(LoadingsDisplay.compute(data.model, n_shown=8).loadings):
        trace = fig.columns(row[order], shown, at[order], is_curve, color=fig.LINES[k % 5])
        lay = fig.layout(_column_title(data), "loading")
        variants.append((f"component {k + 1}", [trace], lay))
    caption = (
        "What a component is made of: inputs with large loadings of one sign move together along it, "
        "those of the other sign move against them."
    )
    section.figures.append(Figure("loadings", caption, variants, "Component"))
    return section


def _kernel_inputs(data: ReportData) -> Section:
    section = Section("Which inputs matter")
    why = "A kernel model has no loadings: what an input does depends on where the others are."
    with np.errstate(invalid="ignore"):
        spread = np.nan_to_num(np.nanstd(data.Y, axis=0))
    importance = sensitivity(data.model, data.complete, spread)
    if importance is None:
        section.text.append(
            f"{why} This kernel has no gradient in its inputs, so that their importance is not told "
            "either; permutation_importance of scikit-learn finds it, at a cost."
        )
        return section
    section.text.append(f"{why} Most important here: {_most_important(data, importance)}.")
    caption = (
        "Importance of each input: how much the predictions change when it moves by its standard "
        "deviation, a root mean square over rows and outputs. Above one it matters more than the average."
    )
    if data.image_shape is not None:
        picture = png_uri(importance.reshape(data.image_shape))
        section.pictures.append((caption, [("importance", [picture])]))
        return section
    order = _shown_inputs(data, importance)
    section.figures.append(_importance_figure(data, importance, order, caption, "importance"))
    return section


def _most_important(data: ReportData, importance: Array) -> str:
    return ", ".join(data.feature_names[j] for j in np.argsort(importance)[::-1][:5])


def _shown_inputs(data: ReportData, importance: Array) -> NDArray:
    """All inputs of a curve or of a few columns; of many, the most important."""
    if data.axis[2] or data.p <= _MOST_BARS:
        return np.arange(data.p)
    return np.argsort(importance)[::-1][:_MOST_BARS]


def _column_title(data: ReportData) -> str:
    named = data.axis[2] and hasattr(data.search, "feature_names_in_")
    return "column (wavelength)" if named else "column"


def _importance_figure(
    data: ReportData, importance: Array, order: NDArray, caption: str, word: str
) -> Figure:
    at, names, is_curve = data.axis
    shown = [names[j] for j in order]
    plain = fig.plain(shown)
    ends = [float(at.min()), float(at.max())] if is_curve else [plain[0], plain[-1]]
    one = fig.line(ends, [1, 1], fig.WARN, "dash")
    bars = fig.columns(importance[order], shown, at[order], is_curve)
    if len(order) < data.p:
        caption += f" The {len(order)} largest are shown."
    return Figure("vip", caption, [("", [bars, one], fig.layout(_column_title(data), word))])


def pictures(data: ReportData) -> Section | None:
    """Pictures instead of numbers, where rows are pictures."""
    section = Section("Pictures")
    shape, out_shape = data.image_shape, data.output_image_shape
    few = np.linspace(0, data.n - 1, min(data.n, _MOST_PICTURES)).astype(int)
    rows = []
    if shape is not None:
        rows.append(("inputs", [png_uri(data.complete[i].reshape(shape)) for i in few]))
    if out_shape is not None:
        low, high = float(np.nanmin(data.Y)), float(np.nanmax(data.Y))
        for label, A in (("outputs", data.Y), ("predicted", data.predictions)):
            rows.append(
                (label, [png_uri(A[i].reshape(out_shape), low=low, high=high) for i in few])
            )
    if not rows:
        return None
    section.pictures.append(
        (
            "Some rows as pictures, one column each: compare what is predicted with what it should be.",
            rows,
        )
    )
    if data.is_latent and data.model.n_components_ > 0:
        k = min(data.model.n_components_, _MOST_PICTURES)
        basis = []
        if shape is not None:
            basis.append(("inputs", [png_uri(v.reshape(shape), signed=True)
                                     for v in data.model.x_rotations_.T[:k]]))  # fmt: skip
        if out_shape is not None:
            basis.append(("outputs", [png_uri(v.reshape(out_shape), signed=True)
                                      for v in data.model.y_loadings_.T[:k]]))  # fmt: skip
        section.pictures.append(
            ("The components as pictures, from the first: what each looks for in the inputs and adds "
             "to the outputs; blue is more, red is less.", basis)
        )  # fmt: skip
    return section


def kernel_points(data: ReportData) -> Section | None:
    """The compression curve of a kernel model."""
    kernel = expansion_model(data.model)
    if kernel is None:
        return None
    n_full = kernel.to_expansion().n_points
    if not 10 <= n_full <= _MOST_COMPRESSED:
        return None
    path = compress(kernel, max(n_full // 2, 2)).compression_
    errors = path.errors if path.output_errors is None else path.output_errors
    shown = np.unique(np.geomspace(1, len(errors) - 1, 60).astype(int))
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": fig.numbers(path.sizes[shown]),
        "y": fig.numbers(np.maximum(errors[shown], 1e-16)),
        "line": {"color": fig.ACCENT},
        "hovertemplate": "%{x} points: %{y}<extra></extra>",
    }
    lay = fig.layout("points kept", "squared change of the predictions")
    lay["yaxis"]["type"] = lay["xaxis"]["type"] = "log"
    lay["yaxis"]["exponentformat"] = "power"
    caption = (
        f"How the predictions change when the kernel model keeps fewer of its {n_full} points, relative "
        "to their variance: where the curve is low, a much smaller and faster model does the same; see "
        "isthmus compress."
    )
    return Section("Compression", figures=[Figure("compression", caption, [("", [trace], lay)])])


def method(data: ReportData) -> Section:
    search, told = data.search, data.search.method_
    rank = data.search.rank_
    numbers = []
    if rank is not None:
        numbers.append(f"{rank} components")
    if "alpha" in search.best_params_:
        numbers.append(f"ridge weight {float(search.best_params_['alpha']):.3g}")
    with_numbers = f" The model has {' and '.join(numbers)}." if numbers else ""
    scaled = "centred and scaled to unit variance" if search.scale_ else "centred"
    k = results_index(search)
    error = search.cv_results_["standard_error"][k]
    paragraph = (
        f"{told['text']} Columns were {scaled} with the statistics of the training rows. Methods were "
        f"compared by nested {search.n_splits_}-fold cross-validation, in which each chose its number of "
        "components and ridge weight in inner folds; the simplest method within one standard error of the "
        f"best was taken.{with_numbers} It explains {search.best_score_:.3f} (standard error {error:.3f}) "
        f"of the variance of the outputs of rows left out (n = {search.n_samples_}). Computed with isthmus."
    )
    latex = f"{paragraph}\n\\[\n  {told['latex']}\n\\]"
    return Section(
        "Method",
        [paragraph],
        formula=told["formula"],
        items=told["references"],
        code=[("The same in LaTeX, to paste in a paper:", latex)],
    )


def results_index(search: Any) -> int:
    return search.cv_results_["method"].index(search.best_method_)


def again(data: ReportData) -> Section:
    if data.command is not None:
        return Section(
            "Make it again", code=[("The command that wrote this report:", data.command)]
        )
    search = data.search
    options = [f"cv={search.cv!r}", f"random_state={search.random_state!r}"]
    if search.methods != "auto":
        options.append(f"methods={search.methods!r}")
    code = (
        "from isthmus import fit_auto\n\n"
        f"search = fit_auto(X, y, {', '.join(options)})\n"
        'search.report("report.html")'
    )
    return Section("Make it again", code=[("In Python, with the same X and y:", code)])

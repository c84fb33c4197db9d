"""The search in words: the result, how to report it in a paper, how to repeat it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.page import Section


def summary(data: ReportData) -> Section:
    """What came out, in a few numbers."""
    search, error = data.search, data.score_error
    rows = "later rows" if data.is_in_time else "cross-validation"
    name = data.score_name
    what = f"explained in {rows} (R2)" if name == "R2" else f"{name} in {rows}"
    cards = [
        ("method chosen", search.method_["label"]),
        (what, f"{search.best_score_:.3f} ± {error:.3f}"),
        ("rows, inputs, outputs of the fit",
         f"{search.n_samples_} by {search.n_features_in_} → {len(search.target_names_)}"),
    ]  # fmt: skip
    if search.rank_ is not None:
        cards.append(("components", str(search.rank_)))
    if "alpha" in search.best_params_:
        cards.append(("ridge weight", fig.short(_middle(search.best_params_["alpha"]))))
    if "treatment" in search.best_params_:
        cards.append(("treatment of the curves", _heaviest(str(search.best_params_["treatment"]))))
    text = []
    if search.best_method_ == "blend":
        labels = dict(zip(search.cv_results_["method"], search.cv_results_["label"]))
        weights = sorted(search.best_params_.items(), key=lambda part: -part[1])
        parts = [f"{labels.get(name, name)} {100 * w:.0f} %" for name, w in weights if w >= 0.005]
        text.append(f"The blend, by mean weight over the outputs: {'; '.join(parts)}.")
    if not data.is_validation:  # its own section says it
        r2 = float(np.mean([display.r2 for display in data.by_output]))
        text.append(
            f"On these data the model explains {100 * r2:.1f} % of the variance of the outputs, "
            f"{data.kind}. 100 % is perfect, 0 % is no better than predicting the mean."
        )
    text += [f"{notice[0].upper()}{notice[1:]}" for notice in search.notices_]
    if search.best_score_ - error <= search.baseline_score_:
        text.append(
            "The chosen model is not clearly better than predicting the mean: these inputs may "
            "carry no information about these outputs."
        )
    return Section("The model" if data.is_validation else "Summary", text, cards=cards)


def method(data: ReportData) -> Section:
    """The paragraph, the equation and the literature of the method."""
    search, told = data.search, data.search.method_
    numbers = []
    if search.rank_ is not None:
        numbers.append(f"{search.rank_} components")
    if "alpha" in search.best_params_:
        numbers.append(f"ridge weight {_middle(search.best_params_['alpha']):.3g}")
    with_numbers = f" The model has {' and '.join(numbers)}." if numbers else ""
    scaled = "centred and scaled to unit variance" if search.scale_ else "centred"
    rule = {
        "simple": "the simplest method within one standard error of the best",
        "small": "the best map of low rank",
    }.get(search.prefer, "the most accurate answer (blends too were fitted inside the folds)")
    in_time = ", later rows predicted from earlier ones" if data.compares_in_time else ""
    judged = "later rows, predicted from earlier ones" if data.is_in_time else "rows left out"
    score = f"{search.best_score_:.3f} (standard error {data.score_error:.3f})"
    result = f"It explains {score} of the variance of the outputs of {judged}"
    if data.score_name != "R2":
        result = f"Its {data.score_name} is {score} in {judged}"
    filled = ""
    if search.missing_model_ is not None:
        filled = (
            " Missing inputs were replaced by their means given the rest of the row, under probabilistic "
            "principal components of the training rows (Tipping and Bishop, 1999)."
        )
    paragraph = (
        f"{told['text']} Columns were {scaled} with the statistics of the training rows.{filled} "
        f"Methods were compared by nested {search.n_splits_}-fold cross-validation{in_time}, in which each "
        f"chose its number of components and ridge weight in inner folds; {rule} was taken.{with_numbers} "
        f"{result} (n = {search.n_samples_}). Computed with isthmus."
    )
    latex = f"{paragraph}\n\\[\n  {told['latex']}\n\\]"
    return Section(
        "Method",
        [paragraph],
        formula=told["formula"],
        items=list(dict.fromkeys(told["references"])),  # methods of a blend share some
        code=[("The same in LaTeX, to paste in a paper:", latex)],
    )


def _middle(values: Any) -> float:
    """The one ridge weight, or the middle of those of the outputs."""
    return float(np.median(values))


def again(data: ReportData) -> Section:
    """The command or the call that writes the same report."""
    if data.command is not None:
        return Section(
            "How to reproduce", code=[("The command that wrote this report:", data.command)]
        )
    search = data.search
    options = [f"cv={search.cv!r}", f"random_state={search.random_state!r}"]
    if search.prefer != "accurate":
        options.append(f"prefer={search.prefer!r}")
    if search.methods != "auto":
        options.append(f"methods={search.methods!r}")
    code = (
        "from isthmus import fit_auto\n\n"
        f"search = fit_auto(X, y, {', '.join(options)})\n"
        'search.report("report.html")'
    )
    return Section("How to reproduce", code=[("In Python, with the same X and y:", code)])


def _heaviest(treatments: str, most: int = 3) -> str:
    """Return the treatments of the largest weights, of a list such as "SNV 0.60, none 0.40"."""
    found = re.findall(r"(.+?) (\d\.\d\d)(?:, |$)", treatments)
    if len(found) <= most:
        return treatments
    order = sorted(found, key=lambda pair: -float(pair[1]))
    return "; ".join(f"{name} {weight}" for name, weight in order[:most]) + (
        f"; {len(found) - most} more"
    )

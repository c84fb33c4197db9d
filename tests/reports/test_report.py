"""The report has all its parts, asks for nothing, and lies about nothing."""

import base64
import re
import struct
import zlib

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import (
    DependencyRegressor,
    KernelMap,
    MethodSearchCV,
    ReducedRankRegression,
    compress,
    fit_auto,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.reports.kernel_models import kernel_scores, sensitivity
from isthmus.reports.page import Figure, Section, render
from isthmus.reports.pictures import png_uri
from isthmus.reports.sections.overview import _heaviest

X, Y, _ = make_low_rank_regression(50, 8, 3, rank=2, noise=0.4, random_state=0)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.html"
    frame = pd.DataFrame(X, columns=[f"<in {j}>" for j in range(8)])
    outputs = pd.DataFrame(Y, columns=["fat & water", "<b>", "z"])
    search = fit_auto(frame, outputs, cv=3, methods=["pls", "ridge"])
    search.report(path, row_names=[f"<row {i}>" for i in range(50)], command="isthmus fit 'a b'")
    return path.read_text("utf-8")


def test_all_parts_are_there(page):
    for part in (
        "Summary", "Data at a glance", "Comparison of methods", "Number of components", "Predictions",
        "Scores and outliers", "Which inputs matter", "Method", "How to reproduce",
    ):  # fmt: skip
        assert f"<h2>{part}</h2>" in page
    assert "isthmus fit &#39;a b&#39;" in page
    assert r"\arg\max" in page or r"\min" in page  # the equation in LaTeX
    assert "Elements of Statistical Learning" in page or "Wold" in page


def test_every_figure_says_what_to_see(page):
    figures = page.split("<figure>")[1:]
    assert len(figures) >= 9
    for figure in figures:
        caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
        assert caption and len(caption[1]) > 60


def test_colours_say_which_output_they_are_of(page):
    for name in ("fat &amp; water", "z"):
        assert f'"title":{{"text":"{name}","side":"right"}}' in page


def test_names_are_text_and_not_tags(page):
    body = page[: page.index("<script>")]
    assert "<in 3>" not in body and "&lt;in 3&gt;" in body
    data = page[page.index("const FIGURES") : page.index("const chosen")]
    assert "<" not in data and "\\u003c" not in data.replace("\\u003cbr>", "").replace(
        "\\u003cb>", ""
    ).replace("\\u003c/b>", "").replace("\\u003cextra>", "").replace("\\u003c/extra>", "")


def test_nothing_comes_from_elsewhere(page):
    without_library = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", without_library)
    assert "default-src 'none'" in page


def test_the_predictions_are_of_left_out_rows():
    search = MethodSearchCV("pls", cv=4).fit(X, Y)
    # An independent loop over the same folds.
    from isthmus.auto.ladder import LADDER
    from isthmus.auto.problem import Problem
    from isthmus.model_selection.splits import ContentKFold

    expected = np.empty_like(Y)
    for train, test in ContentKFold(4, shuffle=True, random_state=0).split(X):
        rung = next(rung for rung in LADDER if rung.name == "pls")
        model = rung.build(Problem(len(train), 8, 3, scale=search.scale_, rule="best")).fit(
            X[train], Y[train]
        )
        expected[test] = model.predict(X[test])
    assert_allclose(search.cv_predictions_, expected, rtol=1e-12)


def test_no_better_than_the_mean_is_said(tmp_path):
    rng = np.random.default_rng(0)
    search = MethodSearchCV("pls", cv=5).fit(rng.normal(size=(40, 5)), rng.normal(size=40))
    search.report(tmp_path / "r.html")
    assert "not clearly better than predicting the mean" in (tmp_path / "r.html").read_text("utf-8")


def test_scores_have_the_name_that_was_asked_for(tmp_path):
    options = {"cv": 3, "methods": ["pls", "ridge"], "report": tmp_path / "r.html"}
    search = fit_auto(X, Y, scoring="neg_mean_absolute_error", **options)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "neg_mean_absolute_error in cross-validation" in page
    assert f"Its neg_mean_absolute_error is {search.best_score_:.3f}" in page
    assert "R2 in cross-validation" not in page
    assert "1 is perfect" not in page
    assert search.training_summary()["score_name"] == "neg_mean_absolute_error"
    assert fit_auto(X, Y, **options).training_summary()["score_name"] == "R2"
    assert "R2 in cross-validation" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("shape", [(6, 1, 1), (7, 30, 1), (30, 1, 40), (2500, 3, 2)])
def test_odd_shapes(tmp_path, shape):
    n, p, q = shape
    rng = np.random.default_rng(0)
    A = rng.normal(size=(n, p))
    B = A[:, :1] + 0.1 * rng.normal(size=(n, q))
    search = MethodSearchCV("pls", cv=2).fit(A, B[:, 0] if q == 1 else B)
    search.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert ("2000 of 2500 rows are drawn" in text) == (n == 2500)
    assert text.count("<option") <= 4 * 30


def test_bad_arguments(tmp_path):
    search = MethodSearchCV("pls", cv=3).fit(X, Y)
    with pytest.raises(ValueError, match="its product must be 8 columns"):
        search.report(tmp_path / "r.html", image_shape=(3, 3))
    with pytest.raises(ValueError, match="row_names has 2 names for 50 rows"):
        search.report(tmp_path / "r.html", row_names=["a", "b"])
    with pytest.raises(ValueError, match="give both X and y"):
        search.report(tmp_path / "r.html", X)
    assert list(tmp_path.iterdir()) == []


# -- pictures ------------------------------------------------------------------------------------


def decoded(uri):
    """A second reader of PNG: pixels from the chunks."""
    data = base64.b64decode(uri.split(",", 1)[1])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, chunk = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert crc == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", chunk[:10])
        if kind == b"IDAT":
            body += chunk
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)[:, 1:]
    return rows.reshape((height, width, 3) if colour == 2 else (height, width))


def test_large_values_are_dark():
    pixels = decoded(png_uri([[0.0, 1.0, 2.0], [2.0, np.nan, 4.0]]))
    assert pixels.tolist() == [[255, 191, 128], [128, 255, 0]]


def test_signs_are_colours():
    pixels = decoded(png_uri([[-1.0, 0.0, 1.0]], signed=True))
    red, white, blue = pixels[0].astype(int)
    assert red[0] > red[2] and white.tolist() == [255, 255, 255] and blue[2] > blue[0]
    with pytest.raises(ValueError, match="1 dimensions, must have 2"):
        png_uri([1.0, 2.0])


def test_render_escapes_what_it_is_given():
    section = Section(
        "A <b>", ["x < y"], [Figure("f", "see <i>", [("", [{"x": ["</script>"]}], {})])]
    )
    page = render("t & u", "s", [section])
    assert "x &lt; y" in page and "A &lt;b&gt;" in page and "t &amp; u" in page
    assert page.count("</script>") == 2


def test_kernel_models_have_scores_and_importance(tmp_path):
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(60, 4))
    B = np.column_stack([np.sin(2 * A[:, 0]), 100 * A[:, 0] * A[:, 1]])
    search = MethodSearchCV("kernel", cv=2).fit(A, B)
    search.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    for part in ("Scores and outliers", "Which inputs matter", "Compression"):
        assert f"<h2>{part}</h2>" in page
    assert "There are no Q residuals" in page and "has no loadings" in page
    assert "Most important here: x0, x1, " in page


def test_sensitivity_and_scores_of_a_kernel_model():
    """Finite differences of the predictions; distances in the functions by the covariance."""
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(60, 3)) * [1, 5, 1]
    B = np.column_stack([np.sin(2 * A[:, 0]), 100 * A[:, 0] * A[:, 1], A[:, 1]])
    regression = ReducedRankRegression(2, alpha=0.1)
    model = make_pipeline(
        StandardScaler(), DependencyRegressor(KernelMap(gamma=0.3), regression)
    ).fit(A, B)
    found = sensitivity(model, A, B.std(axis=0))
    squares = []
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-5
        slope = (model.predict(A + step) - model.predict(A - step)) / 2e-5
        squares.append((slope**2 / B.var(axis=0)).sum(axis=1).mean() * A[:, j].var())
    assert_allclose(found, np.sqrt(squares / np.mean(squares)), rtol=1e-5)

    display = kernel_scores(model, A, training=True)
    F = model[-1].expansion_(model[:-1].transform(A))
    F = F - F.mean(axis=0)
    expected = np.einsum("ij,jk,ik->i", F, np.linalg.inv(np.cov(F.T)), F)
    assert_allclose(display.t2.values, expected, rtol=1e-6)
    assert display.q is None and display.scores.shape == (60, 2)
    assert 0 <= display.outlying.mean() < 0.15

    small = make_pipeline(model[0], compress(model[-1], 6))
    assert kernel_scores(small, A, training=False).scores.shape == (60, 2)


def test_a_batch_that_is_biased_and_far_out_is_told_in_words(tmp_path):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((60, 5))
    b = A @ [1.0, 2, 0, 0, 1] + 0.1 * rng.standard_normal(60)
    search = MethodSearchCV("pls", cv=3).fit(A, b)
    search.report(tmp_path / "far.html", A + 50, b + 200 - 3)
    body = (tmp_path / "far.html").read_text("utf-8")
    body = body[: body.index("<script>")]
    bias = (search.predict_rows(A + 50) - (b + 197)).mean()
    assert f"Predictions are too high or too low as a whole: y0 {bias:.4g} " in body
    assert "<b>withheld</b>" in body  # no bounds, no share of outputs within them
    search.report(tmp_path / "near.html", A, b)
    assert "as a whole: y0" not in (tmp_path / "near.html").read_text("utf-8")


def test_of_many_treatments_the_heaviest_are_shown():
    assert _heaviest("SNV 0.60, none 0.40") == "SNV 0.60, none 0.40"
    many = "SNV 0.10, SNV, first derivative 0.50, none 0.05, gap derivative 0.35"
    assert _heaviest(many) == "SNV, first derivative 0.50; gap derivative 0.35; SNV 0.10; 1 more"


def test_new_data_make_a_validation_page(tmp_path):
    """The headline is that of the new rows; every figure is computed a second time here."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((120, 5))
    b = A @ [1.0, 2, 0, 0, 1] + 0.1 * rng.standard_normal(120)
    search = MethodSearchCV("pls", cv=3).fit(A, b)
    new = rng.standard_normal((60, 5))
    known = new @ [1.0, 2, 0, 0, 1] + 0.1 * rng.standard_normal(60) + np.linspace(0, 2, 60)
    new[:4] += 20
    search.report(tmp_path / "v.html", new, known)
    page = (tmp_path / "v.html").read_text("utf-8")
    body = page[: page.index("<script>")]
    assert body.index("<h2>Validation</h2>") < body.index("<h2>The model</h2>")
    assert "<h2>Summary</h2>" not in body
    error = search.predict_rows(new) - known  # without the warning of rows outside
    for value in (
        np.sqrt((error**2).mean()), error.mean(), error.std(ddof=1), known.std(ddof=1) / error.std(ddof=1)
    ):  # fmt: skip
        assert f"<td>{value:.4g}</td>" in body and f"<b>{value:.4g}</b>" in body
    trust = search.check(new)
    assert f"<td>{np.sqrt((error[~trust.outside] ** 2).mean()):.4g}</td>" in body
    assert f"<b>{int(trust.outside.sum())} of 60</b>" in body
    lower, upper = search.predict_interval(new)
    told = np.isfinite(upper)  # of rows far out bounds are withheld
    assert not told[:4].any() and told.sum() > 40
    covered = ((lower <= known) & (known <= upper))[told].mean()
    assert f"<td>{100 * covered:.0f} %</td>" in body
    assert "The errors drift over the order of the rows: y0" in body
    assert all(reason and reason in body for reason in trust.reasons[:4])
    assert 'id="drift"' in body and 'id="domain"' in body

    search.report(tmp_path / "w.html", rng.permutation(A), rng.permutation(b))
    assert "The errors have no trend" in (tmp_path / "w.html").read_text("utf-8")
    search.report(tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text("utf-8")
    assert "<h2>Validation</h2>" not in page
    for guess in (search.predict(A), search.cv_predictions_[:, 0]):  # RMSEC, RMSECV
        assert f"<td>{np.sqrt(((guess - b) ** 2).mean()):.4g}</td>" in page


def test_a_notice_of_the_fit_is_in_the_report(tmp_path):
    search = MethodSearchCV("pls", cv=3).fit(X, Y)
    search.notices_ = ("the rows look ordered: so they do.",)
    search.report(tmp_path / "r.html")
    assert "The rows look ordered: so they do." in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.filterwarnings("ignore:the rows look ordered")
def test_ordered_rows_are_told_by_how_they_were_judged(tmp_path):
    """The default compares in shuffled folds and judges in time; "time" does both in time."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(150, 4))
    b = A[:, 0] + np.sin(np.arange(150) / 8) + 0.2 * rng.normal(size=150)
    pages = {}
    for cv in ("auto", "time", 5):
        search = MethodSearchCV("pls", cv=cv).fit(A, b)
        search.report(tmp_path / "r.html")
        pages[cv] = (tmp_path / "r.html").read_text("utf-8")
        assert ("explained in later rows (R2)" in pages[cv]) == (cv != 5)
        assert ("fitted to earlier ones" in pages[cv]) == (cv != 5)
        assert ("outer folds, later rows predicted from earlier ones" in pages[cv]) == (
            cv == "time"
        )
        judged = f"from earlier ones: R2 {search.best_score_:.3f}" in pages[cv]
        assert judged == (cv == "auto")


def test_a_blend_is_told_by_its_methods_and_each_reference_once(tmp_path):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 4))
    B = np.column_stack([A[:, 0] + A[:, 1] ** 2, np.sin(2 * A[:, 2])])
    search = MethodSearchCV(["ridge", "kernel", "rough_kernel"], cv=3)
    search.fit(A, B + 0.3 * rng.normal(size=B.shape)).report(tmp_path / "r.html")
    assert search.best_method_ == "blend"
    text = (tmp_path / "r.html").read_text("utf-8")
    told = re.search(r"<p>The blend, by mean weight over the outputs: (.*?)\.</p>", text)[1]
    weights = [int(part.split()[-2]) for part in told.split("; ")]
    assert weights == sorted(weights, reverse=True) and 98 <= sum(weights) <= 102
    assert "kernel ridge regression, rough kernel" in told
    references = re.findall(r"<li>(.*?)</li>", text)
    assert references and len(references) == len(set(references))
    assert len(search.method_["references"]) > len(references)  # methods share some

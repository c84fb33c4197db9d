"""The report in headless Chromium: no error, no request, selectors, hover, layout, print."""

import os
import shutil

import numpy as np
import pytest

from isthmus.auto import MethodSearchCV
from isthmus.datasets import make_low_rank_regression

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium (make test does so for root)"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "report.html"
    X, Y, _ = make_low_rank_regression(60, 12, 4, rank=2, noise=0.5, random_state=0)
    X[3] += 8  # an outlier with a name
    search = MethodSearchCV(["pls", "ridge"], cv=3).fit(
        X, Y,
        feature_names=[str(1100 + 10 * j) for j in range(12)],
        target_names=["moisture", "a rather long name of an output", "protein", "starch"],
    )  # fmt: skip
    search.report(path, row_names=[f"sample-{i}" for i in range(60)])
    return path


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        found = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield found
        found.close()


@pytest.fixture
def open_page(browser, report):
    """Open the report; at the end nothing was complained of and nothing was asked for."""
    pages, trouble = [], []

    def open_it(width=800, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda m: m.type in ("error", "warning") and trouble.append(m.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda r: r.url.startswith(("http", "ws")) and trouble.append(r.url))
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        pages.append(page)
        return page

    yield open_it
    for page in pages:
        page.close()
    assert trouble == []


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_layout_holds(open_page, width):
    page = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    plots = page.query_selector_all(".plot")
    assert len(plots) >= 9
    for plot in plots:
        drawn = plot.query_selector("svg.main-svg")
        box = drawn.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width + 1
        assert box["width"] > 0.4 * min(width, 500) and box["height"] >= 200
    # The plotting area itself keeps room beside its labels.
    inner = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => p._fullLayout._size.w / p.clientWidth)"
    )
    assert min(inner) > 0.4
    columns = page.evaluate(
        "new Set([...document.querySelectorAll('#section-predictions figure')]"
        ".map(f => Math.round(f.getBoundingClientRect().x))).size"
    )
    assert columns == (2 if width == 1600 else 1)


def test_selectors_work(open_page):
    page = open_page()
    title = "document.querySelector('#parity .xtitle').textContent"
    note = "document.querySelector('#note-parity').textContent"
    before = page.evaluate(title), page.evaluate(note)
    options = page.locator("#select-parity option").all_text_contents()
    assert len(options) == 4 and any("(worst)" in option for option in options)
    assert any("(best)" in option for option in options)
    page.select_option("#select-parity", "2")
    after = page.evaluate(title), page.evaluate(note)
    assert before[0] != after[0] and before[1] != after[1]
    assert options[2].split(" (")[0] in after[0] and "R2" in after[1]


def test_hover_shows_the_name_of_a_row(open_page):
    page = open_page()
    point = page.locator("#scores .scatterlayer .trace:nth-child(2) .point").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#scores .hoverlayer .hovertext")
    assert "sample-" in page.locator("#scores .hoverlayer").text_content()


def test_the_outlier_is_named(open_page):
    page = open_page()
    assert (
        "sample-3"
        in page.locator("#section-scores-and-outliers table tbody tr").first.text_content()
    )


def test_dark_and_light(open_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('#parity .xtitle')).fill"

    def luminance(rgb):
        return np.mean([float(v) for v in rgb.strip("rgba()").split(",")[:3]])

    light, dark = open_page(scheme="light"), open_page(scheme="dark")
    assert luminance(light.evaluate(colour)) > 200 > 100 > luminance(light.evaluate(text))
    assert luminance(dark.evaluate(colour)) < 60 < 150 < luminance(dark.evaluate(text))
    dark.emulate_media(color_scheme="light")
    for _ in range(50):  # it follows the system
        if luminance(dark.evaluate(text)) < 100:
            break
        dark.wait_for_timeout(100)
    assert luminance(dark.evaluate(text)) < 100 < 200 < luminance(dark.evaluate(colour))


def test_print(open_page, tmp_path):
    page = open_page(scheme="dark")
    page.pdf(path=tmp_path / "r.pdf", format="A4")
    assert (tmp_path / "r.pdf").stat().st_size > 20_000
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("nav")

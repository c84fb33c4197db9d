"""Nothing from a table or a model file is more than text in a page; the page runs its own scripts only."""

import base64
import hashlib
import json
import os
import re
import shutil

import pytest

from isthmus import MethodSearchCV, load, save
from isthmus.auto.ladder import LADDER
from isthmus.datasets import make_low_rank_regression
from isthmus.persistence.container import first_line, pack, unpack
from isthmus.reports.page import formula_html

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
EVIL = (
    "<img src=x onerror=\"window.ran='{0}'\"><script>window.ran='{0}'</script>"
    "<a href='javascript:window.ran=1'>{0}</a>"
)
X, Y, _ = make_low_rank_regression(40, 6, 3, rank=2, noise=0.4, random_state=0)


def poisoned(node, path=()):
    """The tree of a model with every text that is no name of a thing turned into markup."""
    keep = ("random_state", "best_method_", "method", "status", "split_scores")
    if isinstance(node, dict):
        if "object" in node:
            return {"object": node["object"],
                    "state": {k: poisoned(v, (*path, k)) for k, v in node["state"].items()}}  # fmt: skip
        if "dict" in node:
            return {"dict": [[k, poisoned(v, (*path, k))] for k, v in node["dict"]]}
        return {k: poisoned(v, path) if k in ("tuple", "objects") else v for k, v in node.items()}
    if isinstance(node, list):
        return [poisoned(item, path) for item in node]
    shown = {"method_", "cv_results_", "target_names_", "feature_names_in_", "origin_"} & set(path)
    return (
        EVIL.format(path[-1]) if shown and isinstance(node, str) and path[-1] not in keep else node
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The report of a crafted model on a crafted table."""
    folder = tmp_path_factory.mktemp("hostile")
    search = MethodSearchCV(["pls", "ridge"], cv=3).fit(
        X, Y, feature_names=[f"<b>{j}" for j in range(6)], target_names=["a", "b", "c"]
    )
    save(search, folder / "m.isthmus")
    line, data = first_line(unpack(folder / "m.isthmus").payload, "m")
    told = json.loads(line)
    told["root"] = poisoned(told["root"])
    payload = json.dumps(told).encode() + b"\n" + bytes(data)
    (folder / "m.isthmus").write_bytes(pack({"summary": {}}, payload))
    crafted = load(folder / "m.isthmus")
    assert "onerror" in crafted.method_["formula"] and "onerror" in crafted.target_names_[0]
    with pytest.warns(UserWarning, match="feature names"):  # the rows have none
        crafted.report(
            folder / "r.html",
            X,
            Y,
            row_names=[EVIL.format(f"row{i}") for i in range(40)],
            command=EVIL.format("command"),
            title=EVIL.format("title"),
        )
    return folder / "r.html"


def script_texts(page):
    return re.findall(r"<script>(.*?)</script>", page, re.S)


def policy_of(page):
    return re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]


def test_scripts_are_allowed_by_hash_only(hostile):
    page = hostile.read_text("utf-8")
    scripts, policy = script_texts(page), policy_of(page)
    assert len(scripts) == 2
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert f"script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}';" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy.split("style-src")[0]
    markup = page.replace(scripts[0], "").replace(scripts[1], "")
    assert "<img src=x" not in markup and "<a href='java" not in markup and "onerror" in markup
    data = scripts[1].split("const FIGURES = ")[1].split(";\nconst chosen")[0]
    assert "<" not in data
    figures = json.loads(data)
    for figure in figures.values():
        figure.pop("notes")  # set as text by the page
    allowed = {"br", "b", "/b", "extra", "/extra"}  # of plotly, which takes them for markup
    assert set(re.findall(r"<([^>]*)>", json.dumps(figures))) <= allowed


def test_equations_keep_their_tags():
    for rung in LADDER:  # entities come out as they went in, and the three tags
        assert formula_html(rung.formula) == rung.formula
    evil = formula_html("<sub onload=x>a</sub><script>b</script>&lt;<SUB>&amp;<b>")
    assert evil.startswith("&lt;sub onload=x&gt;a</sub>&lt;script&gt;b") and "<b>" not in evil
    assert "<SUB>" not in evil


def opened(path, ask):
    """Open a page in Chromium, ask it something; also what it complained of."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium")
    trouble = []
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.on("console", lambda m: m.type in ("error", "warning") and trouble.append(m.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        answer = ask(page)
        browser.close()
    return answer, trouble


def test_a_browser_runs_nothing_of_it(hostile):
    def ask(page):
        point = page.locator("#scores .scatterlayer .trace:nth-child(2) .point").first
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#scores .hoverlayer .hovertext")
        page.wait_for_timeout(300)
        return {
            "ran": page.evaluate("typeof window.ran"),
            "images": page.locator("img:not([src^='data:'])").count(),
            "links": page.evaluate(
                "[...document.querySelectorAll('a')].map(a => a.getAttribute('href') || "
                "a.getAttribute('xlink:href')).filter(h => h && !h.startsWith('#')).length"
            ),
            "scripts": page.locator("script").count(),
            "hover": page.locator("#scores .hoverlayer").text_content(),
            "plots": page.locator(".plot svg.main-svg").count(),
        }

    found, trouble = opened(hostile, ask)
    assert found["ran"] == "undefined" and found["images"] == found["links"] == 0
    assert found["scripts"] == 2 and "onerror" in found["hover"] and found["plots"] > 5
    assert trouble == []


def test_the_policy_stops_what_got_in(hostile, tmp_path):
    """A script that some mistake would let into the page does not run."""
    page = hostile.read_text("utf-8")
    marks = "<script>window.ran = 1</script><img src=data:, onerror='window.ran = 2'>"
    (tmp_path / "r.html").write_text(page.replace("<main>", f"<main>{marks}", 1), "utf-8")
    found, trouble = opened(tmp_path / "r.html", lambda page: page.evaluate("typeof window.ran"))
    assert found == "undefined"
    assert any("Content Security Policy" in text for text in trouble)

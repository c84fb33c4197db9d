"""Take the picture of the report on the front page: ``isthmus fit`` on simulated spectra.

Run from the root of the repository: ``python docs/pictures/report.py``. It needs playwright and Chromium
and writes ``report.png`` beside this file.
"""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import isthmus
from isthmus.datasets import make_spectra

PICTURE = Path(__file__).with_name("report.png")
WIDTH, HEIGHT = 1000, 1200


def write_report(path):
    """Fit 80 simulated spectra, every fifth wavelength, and write the report."""
    spectra = make_spectra(80, random_state=0)
    search = isthmus.MethodSearchCV().fit(
        spectra.data[:, ::5],
        spectra.target,
        feature_names=[f"{nm:g}" for nm in spectra.wavelengths[::5]],
        target_names=spectra.target_names,
    )
    search.report(path)


def main():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        write_report(report)
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.screenshot(path=PICTURE)
        browser.close()
    print(f"written: {PICTURE.name}")


if __name__ == "__main__":
    main()

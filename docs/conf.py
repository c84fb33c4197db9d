"""The site: `make docs`. It is built without a network, and its pages ask for none."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import generated_pages  # noqa: E402

import isthmus  # noqa: E402

project = "Isthmus"
author = "the Isthmus developers"
copyright = author
version = release = isthmus.__version__
html_title = f"Isthmus {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",  # from an entry to its code
    "mathml",  # equations without a script from elsewhere
]
GALLERY = os.environ.get("ISTHMUS_GALLERY", "1") != "0"
if GALLERY:
    extensions.append("sphinx_gallery.gen_gallery")

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_extensions", "_static", "pictures", "gallery/*.py", "gallery/*.ipynb"]
# README.md and code link to files of the repository by their paths.
suppress_warnings = ["myst.xref_missing", "ref.citation", "config.cache", "ref.python"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    "inherited-members": False,
    "undoc-members": False,
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, set_predict_request, "
    "set_transform_request, set_inverse_transform_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "plot_gallery": "True" if GALLERY else "False",
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}


def escape_shapes(app, what, name, thing, options, lines):
    """An underscore at the end of a word, as in a shape, is a link to docutils."""
    lines[:] = [re.sub(r"\bn_components_(?=[,)])", r"n_components\\_", line) for line in lines]


TRAIL = generated_pages.Trail(HERE.parent)
PUBLIC = {
    f"{room}.{name}" for room, names in generated_pages.public_rooms().items() for name in names
}


def add_trail(app, what, name, thing, options, lines):
    """From an entry of the reference to its page, its examples and its tests."""
    if what in ("class", "function") and name in PUBLIC:
        lines += TRAIL.lines(name.rsplit(".", 1)[1], gallery=GALLERY)


def setup(app):
    app.connect("autodoc-process-docstring", escape_shapes)
    app.connect("autodoc-process-docstring", add_trail)
    generated_pages.write_all(HERE, gallery=GALLERY)

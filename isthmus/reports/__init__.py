"""The report: one HTML file that works without network, on a phone and in print, light and dark.

================== ================= ===========================================================
name               file              what it does
================== ================= ===========================================================
``write_report``   ``page.py``       the report of a fitted search over methods
``Section``        ``page.py``       a heading, sentences, figures, tables, pictures
``render``         ``page.py``       sections to HTML; the demonstration uses it too
``png_uri``        ``pictures.py``   an array as a picture inside the page
================== ================= ===========================================================

``sections/`` says what the report of a model has in it, one question a file. They draw from
``data.py``, the rows, the model and its predictions; ``figures.py`` turns numbers into figures of
plotly; ``kernel_models.py`` has what takes the place of scores and loadings in a kernel model;
``page.html`` is the page.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "page": "write_report",
    },
    neighbours={
        "figures": "ACCENT LINES MUTED layout line markers numbers plain rank_scores",
        "kernel_models": "expansion_model",
        "page": "Figure Section render",
        "pictures": "png_uri",
        "sections.choice": "answer_rows",
        "sections.classes": "class_counts",
        "sections.inputs": "block_rows",
    },
)

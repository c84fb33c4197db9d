"""What the report of a model has in it, one question a file.

================== ========================================================
file               sections
================== ========================================================
``validation.py``  new rows: errors, coverage, drift, rows outside the domain
``overview.py``    summary; the method, for a paper; how to make it again
``glance.py``      the data at a glance
``choice.py``      comparison of methods; number of components
``classes.py``     classes: rows that are right, and classes taken for another
``predictions.py`` predicted against observed, residuals, output by output
``scores.py``      scores and outliers
``inputs.py``      which inputs matter
``as_pictures.py`` rows and components, where they are pictures
``compression.py`` how few points a kernel model needs
================== ========================================================
"""

from __future__ import annotations

from isthmus.reports.data import ReportData
from isthmus.reports.page import Section
from isthmus.reports.sections.as_pictures import pictures
from isthmus.reports.sections.choice import comparison, components
from isthmus.reports.sections.classes import classes
from isthmus.reports.sections.compression import compression
from isthmus.reports.sections.glance import at_a_glance
from isthmus.reports.sections.inputs import inputs
from isthmus.reports.sections.overview import again, method, summary
from isthmus.reports.sections.predictions import predictions
from isthmus.reports.sections.scores import scores
from isthmus.reports.sections.validation import validation


def all_sections(data: ReportData) -> list[Section]:
    """The report, section by section; what does not apply is left out."""
    if not data.is_search:  # of one model there is no choice to report
        return [
            found for found in (validation(data), at_a_glance(data), predictions(data)) if found
        ]
    made = [
        validation(data), summary(data), classes(data), at_a_glance(data), comparison(data),
        components(data), predictions(data), scores(data), inputs(data), pictures(data),
        compression(data), method(data), again(data),
    ]  # fmt: skip
    return [section for section in made if section is not None]

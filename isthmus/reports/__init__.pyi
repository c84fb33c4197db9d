from isthmus.reports.figures import ACCENT as ACCENT
from isthmus.reports.figures import LINES as LINES
from isthmus.reports.figures import MUTED as MUTED
from isthmus.reports.figures import layout as layout
from isthmus.reports.figures import line as line
from isthmus.reports.figures import markers as markers
from isthmus.reports.figures import numbers as numbers
from isthmus.reports.figures import plain as plain
from isthmus.reports.figures import rank_scores as rank_scores
from isthmus.reports.kernel_models import expansion_model as expansion_model
from isthmus.reports.page import Figure as Figure
from isthmus.reports.page import Section as Section
from isthmus.reports.page import render as render
from isthmus.reports.page import write_report as write_report
from isthmus.reports.pictures import png_uri as png_uri
from isthmus.reports.sections.choice import answer_rows as answer_rows
from isthmus.reports.sections.classes import class_counts as class_counts
from isthmus.reports.sections.inputs import block_rows as block_rows

__all__ = [
    "write_report",
]

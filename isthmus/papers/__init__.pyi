from isthmus.papers.experiment import Result as Result
from isthmus.papers.page import render_page as render_page
from isthmus.papers.page import summarise as summarise
from isthmus.papers.registry import EXPERIMENTS as EXPERIMENTS

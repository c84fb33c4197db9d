"""The centred, scaled and weighted least-squares problem: one engine under regression and projections.

A form is how the second moments are reached: as rows, as moments or as a Gram matrix.
"""

from isthmus.problems.forms import Form as Form
from isthmus.problems.forms import Frame as Frame
from isthmus.problems.forms import GramForm as GramForm
from isthmus.problems.forms import MomentForm as MomentForm
from isthmus.problems.forms import RowForm as RowForm
from isthmus.problems.missing import MissingModel as MissingModel
from isthmus.problems.splits import Rows as Rows
from isthmus.problems.splits import Split as Split
from isthmus.problems.sums import Moments

__all__ = ["Moments"]

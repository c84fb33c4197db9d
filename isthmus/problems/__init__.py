"""The centred, scaled and weighted least-squares problem: one engine under regression and projections.

A form is how the second moments are reached: as rows, as moments or as a Gram matrix.
"""

from isthmus.problems.choose import cheapest_form as cheapest_form
from isthmus.problems.form import Folds as Folds
from isthmus.problems.form import Form as Form
from isthmus.problems.form import Spectrum as Spectrum
from isthmus.problems.frame import Frame as Frame
from isthmus.problems.gram import GramForm as GramForm
from isthmus.problems.missing import MissingModel as MissingModel
from isthmus.problems.moments import MomentForm as MomentForm
from isthmus.problems.rows import RowForm as RowForm
from isthmus.problems.splits import Rows as Rows
from isthmus.problems.splits import Split as Split
from isthmus.problems.sums import Moments

__all__ = ["Moments"]

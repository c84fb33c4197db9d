from isthmus.problems.blocks import BlockMoments as BlockMoments
from isthmus.problems.form import FoldForms as FoldForms
from isthmus.problems.form import Form as Form
from isthmus.problems.form import GRAM_DIGITS as GRAM_DIGITS
from isthmus.problems.form import RIDGE_SAFE as RIDGE_SAFE
from isthmus.problems.form import Spectrum as Spectrum
from isthmus.problems.frame import Frame as Frame
from isthmus.problems.frame import output_units as output_units
from isthmus.problems.frame import ridge_in_units as ridge_in_units
from isthmus.problems.frame import scales_x as scales_x
from isthmus.problems.gaps import MissingModel as MissingModel
from isthmus.problems.gram import Centre as Centre
from isthmus.problems.gram import GramForm as GramForm
from isthmus.problems.missing import expected_form as expected_form
from isthmus.problems.missing import fit_missing as fit_missing
from isthmus.problems.missing import unit_of_seen as unit_of_seen
from isthmus.problems.moments import MomentForm as MomentForm
from isthmus.problems.moments import MomentScores as MomentScores
from isthmus.problems.parallel import limit_threads as limit_threads
from isthmus.problems.parallel import thread_map as thread_map
from isthmus.problems.paths import FoldPath as FoldPath
from isthmus.problems.paths import RefitPath as RefitPath
from isthmus.problems.paths import expanded_errors as expanded_errors
from isthmus.problems.paths import pairs as pairs
from isthmus.problems.ridge import Distinct as Distinct
from isthmus.problems.ridge import Folds as Folds
from isthmus.problems.ridge import RidgeSpectrum as RidgeSpectrum
from isthmus.problems.ridge import is_partition as is_partition
from isthmus.problems.rows import RowForm as RowForm
from isthmus.problems.rows import ScoreStack as ScoreStack
from isthmus.problems.rows import off as off
from isthmus.problems.scores import OutputMean as OutputMean
from isthmus.problems.scores import QUICK_SCORES as QUICK_SCORES
from isthmus.problems.scores import TestRows as TestRows
from isthmus.problems.scores import score_path as score_path
from isthmus.problems.splits import CheckedRows as CheckedRows
from isthmus.problems.splits import Split as Split
from isthmus.problems.splits import checked_folds as checked_folds
from isthmus.problems.splits import dense_rows as dense_rows
from isthmus.problems.splits import without_empty as without_empty
from isthmus.problems.streams.sources import Rows as Rows
from isthmus.problems.sums import Moments as Moments

__all__ = [
    "Moments",
    "Rows",
]

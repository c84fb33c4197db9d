from isthmus.features.axes import NO_DIFFERENCE as NO_DIFFERENCE
from isthmus.features.block_treatments import BlockTreatments as BlockTreatments
from isthmus.features.cost import is_affordable as is_affordable
from isthmus.features.fourier import FourierFeatures as FourierFeatures
from isthmus.features.kernel_map import KernelMap as KernelMap
from isthmus.features.landmarks import Landmarks as Landmarks
from isthmus.features.left_out import distinct as distinct
from isthmus.features.left_out import left_out_ridge as left_out_ridge
from isthmus.features.left_out import rows_within as rows_within
from isthmus.features.samples import accepts_sparse as accepts_sparse
from isthmus.features.samples import check_no_kernel as check_no_kernel
from isthmus.features.samples import check_samples as check_samples
from isthmus.features.samples import set_kernel_tags as set_kernel_tags
from isthmus.features.samples import weighted_samples as weighted_samples
from isthmus.features.sampling import draw_sample as draw_sample
from isthmus.features.transfer import InstrumentTransfer as InstrumentTransfer
from isthmus.features.treatments import Absorbance as Absorbance
from isthmus.features.treatments import Baseline as Baseline
from isthmus.features.treatments import Detrend as Detrend
from isthmus.features.treatments import GapDerivative as GapDerivative
from isthmus.features.treatments import LinearTreatment as LinearTreatment
from isthmus.features.treatments import NormalVariate as NormalVariate
from isthmus.features.treatments import SavitzkyGolay as SavitzkyGolay
from isthmus.features.treatments import ScatterCorrection as ScatterCorrection
from isthmus.features.treatments import Whittaker as Whittaker

__all__ = [
    "Absorbance",
    "Baseline",
    "BlockTreatments",
    "Detrend",
    "FourierFeatures",
    "GapDerivative",
    "InstrumentTransfer",
    "KernelMap",
    "Landmarks",
    "NormalVariate",
    "SavitzkyGolay",
    "ScatterCorrection",
    "Whittaker",
]

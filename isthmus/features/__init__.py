"""Features: from objects to coordinates, and from curves to treated curves.

==================================== ===================================================
class                                what it is
==================================== ===================================================
:class:`KernelMap`                   kernel principal components, and the map whose inner
                                     products are the kernel; exact, by landmarks or by
                                     random features
:class:`Landmarks`                   coordinates in the span of a few samples
:class:`FourierFeatures`             random Fourier features, for kernels of a distance
:class:`SavitzkyGolay`               smoothing and derivatives of curves
:class:`GapDerivative`               differences of points some way apart
:class:`Detrend`                     curves minus a polynomial
:class:`Whittaker`                   penalised smoothing
:class:`NormalVariate`               each curve centred and scaled (SNV)
:class:`ScatterCorrection`           multiplicative scatter correction (MSC, EMSC)
:class:`Baseline`                    curves minus a baseline (asymmetric least squares)
:class:`Absorbance`                  absorbances from reflectances
:class:`BlockTreatments`             a treatment for each of several blocks of columns
:class:`InstrumentTransfer`          spectra as another instrument would measure them
==================================== ===================================================
"""

from isthmus.features.block_treatments import BlockTreatments
from isthmus.features.fourier import FourierFeatures
from isthmus.features.kernel_map import KernelMap
from isthmus.features.landmarks import Landmarks
from isthmus.features.transfer import InstrumentTransfer
from isthmus.features.treatments import (
    Absorbance,
    Baseline,
    Detrend,
    GapDerivative,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
    Whittaker,
)

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

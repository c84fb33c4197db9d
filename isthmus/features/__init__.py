"""Features: from objects to coordinates.

=========================== ============================================================
class                       what it is
=========================== ============================================================
:class:`KernelMap`          kernel principal components, and the map whose inner products
                            are the kernel; exact, by landmarks or by random features
:class:`Landmarks`          coordinates in the span of a few samples, for any kernel
:class:`FourierFeatures`    random Fourier features, for kernels of a distance
:class:`InstrumentTransfer` spectra of one instrument as another would measure them
=========================== ============================================================
"""

from isthmus.features.fourier import FourierFeatures
from isthmus.features.kernel_map import KernelMap
from isthmus.features.landmarks import Landmarks
from isthmus.features.transfer import InstrumentTransfer

__all__ = ["FourierFeatures", "InstrumentTransfer", "KernelMap", "Landmarks"]

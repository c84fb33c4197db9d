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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "block_treatments": "BlockTreatments",
        "fourier": "FourierFeatures",
        "kernel_map": "KernelMap",
        "landmarks": "Landmarks",
        "transfer": "InstrumentTransfer",
        "treatments": "Absorbance Baseline Detrend GapDerivative NormalVariate "
        "SavitzkyGolay ScatterCorrection Whittaker",
    },
    neighbours={
        "axes": "NO_DIFFERENCE",
        "cost": "is_affordable",
        "left_out": "distinct left_out_ridge rows_within",
        "samples": "accepts_sparse check_no_kernel check_samples set_kernel_tags weighted_samples",
        "sampling": "draw_sample",
        "treatments": "LinearTreatment",
    },
)

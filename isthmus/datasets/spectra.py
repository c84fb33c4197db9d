"""Near-infrared spectra of mixtures, computed from the places of known absorption bands."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state, check_scalar

from isthmus._validation import check_option

Array = NDArray[np.float64]

# Bands as (nm, relative strength, full width at half maximum in nm), with the vibrations to which [OFH1993]
# and [WW2007] assign these places. Public tables confirm all but 1190, 1580, 1765, 1980 and 2276, which are
# approximate; docs/spectra.md lists them. Strengths and widths are round numbers, no measurements.
BANDS: dict[str, tuple[tuple[float, float, float], ...]] = {
    "water": (
        (970, 0.02, 60),  # OH stretch, second overtone
        (1190, 0.04, 70),  # OH stretch and bend, combination
        (1450, 0.5, 110),  # OH stretch, first overtone
        (1940, 1.0, 100),  # OH stretch and bend, combination
    ),
    "protein": (
        (1195, 0.03, 50),  # CH of methyl, second overtone
        (1510, 0.12, 60),  # NH stretch, first overtone
        (1695, 0.1, 50),  # CH of methyl, first overtone
        (1980, 0.2, 70),  # NH stretch and amide II, combination
        (2055, 0.4, 60),  # NH stretch and amide, combination
        (2180, 0.45, 60),  # NH bend, second overtone; CH stretch with C=O stretch
    ),
    "fat": (
        (1210, 0.08, 40),  # CH of methylene, second overtone
        (1725, 0.35, 35),  # CH of methylene, first overtone
        (1765, 0.3, 35),  # CH of methylene, first overtone
        (2310, 0.8, 40),  # CH stretch and bend of methylene, combination
        (2347, 0.6, 35),  # the same, beside double bonds
    ),
    "starch": (
        (990, 0.015, 60),  # OH stretch, second overtone
        (1440, 0.15, 90),  # OH stretch, first overtone
        (1580, 0.12, 90),  # OH stretch, first overtone, with hydrogen bonds between molecules
        (2100, 0.6, 110),  # OH bend and CO stretch, combination
        (2276, 0.4, 50),  # OH stretch and CC stretch, combination
    ),
}
# Mass fractions of a cereal: water, protein, fat, and fibre with ash, which do not absorb here; starch is
# the rest.
_MEANS = np.array([0.12, 0.11, 0.06, 0.11])
_DEVIATIONS = np.array([0.02, 0.02, 0.015, 0.01])
_NM_PER_DEGREE = (
    -0.3
)  # hydrogen bonds weaken with temperature: OH bands of water move to shorter waves
# Shift in nm, further width in nm, gain, stray light: what makes instruments differ.
_INSTRUMENTS = {"primary": (0.0, 8.0, 1.0, 0.0), "secondary": (1.2, 12.0, 1.03, 0.004)}


def make_spectra(
    n_samples: int = 100,
    *,
    instrument: str = "primary",
    scatter: float = 0.1,
    noise: float = 2e-4,
    random_state: int | RandomState | None = None,
) -> Bunch:
    r"""Simulate near-infrared spectra of mixtures of water, protein, fat and starch, 1100 to 2498 nm.

    .. math::
        A(\lambda) = l \sum_k c_k \epsilon_k(\lambda) + b_0 + b_1 \lambda + e

    after Beer and Lambert, with Gaussian bands where handbooks place the overtones and combinations of OH,
    NH and CH ([WW2007]_, [OFH1993]_): water 970, 1190, 1450 and 1940 nm; protein 1195, 1510, 1695, 1980,
    2055 and 2180; fat 1210, 1725, 1765, 2310 and 2347; starch 990, 1440, 1580, 2100 and 2276. Public
    tables confirm all but 1190, 1580, 1765, 1980 and 2276, which are approximate (docs/spectra.md);
    strengths and widths are round numbers. The path length :math:`l` and the baseline scatter from sample
    to sample, water bands move with the temperature of the sample, and there is noise. Needs no file and no
    network. The secondary instrument measures the same samples with shifted wavelengths, a wider slit,
    another gain and stray light.

    Parameters
    ----------
    n_samples : int, default=100
        Number of samples.
    instrument : {"primary", "secondary"}, default="primary"
        With one ``random_state`` both measure the same samples.
    scatter : float, default=0.1
        Relative spread of the path length; the baseline spreads in proportion.
    noise : float, default=2e-4
        Standard deviation of the noise, in absorbance.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same samples.

    Returns
    -------
    bunch : Bunch
        ``data`` (n_samples, 700) absorbances, ``target`` (n_samples, 4) mass percent, ``feature_names``,
        ``target_names``, ``wavelengths`` in nm, ``pure`` (4, 700): the spectrum of each constituent,
        ``DESCR``.

    Examples
    --------
    >>> from isthmus.datasets import make_spectra
    >>> spectra = make_spectra(50, random_state=0)
    >>> spectra.data.shape, spectra.target_names
    ((50, 700), ['water', 'protein', 'fat', 'starch'])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_option("instrument", instrument, tuple(_INSTRUMENTS))
    check_scalar(scatter, "scatter", Real, min_val=0)
    check_scalar(noise, "noise", Real, min_val=0)
    rng = check_random_state(random_state)
    wavelengths = np.arange(1100.0, 2500.0, 2.0)
    content = _MEANS + _DEVIATIONS * rng.standard_normal((n_samples, 4))
    content = np.clip(content, 0.005, None)
    content[:, 3] = 1 - content.sum(axis=1)
    path = np.exp(scatter * rng.standard_normal(n_samples))
    offset = 0.3 + scatter * rng.standard_normal(n_samples)
    slope = 0.2 * scatter * rng.standard_normal(n_samples)
    warmth = 2.0 * rng.standard_normal(n_samples)  # degrees from 20
    # Drawn for both instruments, so that one seed means the same samples.
    errors = rng.standard_normal((2, n_samples, len(wavelengths)))
    shift, slit, gain, stray = _INSTRUMENTS[instrument]
    pure = np.array([_absorption(BANDS[name], wavelengths + shift, slit) for name in BANDS])
    water = _absorption(BANDS["water"], wavelengths + shift - _NM_PER_DEGREE, slit)
    X = content @ pure + np.outer(content[:, 0] * warmth, water - pure[0])
    X = path[:, None] * X + offset[:, None] + np.outer(slope, (wavelengths - 1800) / 700)
    X = -np.log10((1 - stray) * 10.0 ** (-gain * X) + stray)
    X += noise * errors[list(_INSTRUMENTS).index(instrument)]
    return Bunch(
        data=X,
        target=100 * content,
        feature_names=[f"{value:.6g} nm" for value in wavelengths],
        target_names=list(BANDS),
        wavelengths=wavelengths,
        pure=pure,
        DESCR="Simulated near-infrared spectra of water, protein, fat and starch; see make_spectra.",
    )


def _absorption(bands: tuple[tuple[float, float, float], ...], at: Array, slit: float) -> Array:
    """Sum of Gaussian bands seen through a slit of the given width; their areas stay the same."""
    total = np.zeros(len(at))
    for place, strength, width in bands:
        seen = np.hypot(width, slit)
        total += strength * width / seen * np.exp(-4 * np.log(2) * ((at - place) / seen) ** 2)
    return total

"""One row a data set: where it is kept, what it is, whose it is.

A new set is a new row here; its loader (``loaders.py`` for tables, ``images.py`` for pictures) only
says which arrays it hands out. The rows of sequences, graphs and movements stand with their loaders.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenMLTable:
    """How a set lies in its table at OpenML: blocks of columns from left to right."""

    data_id: int
    n_samples: int
    blocks: tuple[tuple[str, int], ...]
    first_target: str  # a copy whose columns are ordered otherwise is refused by this name

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, sum(width for _, width in self.blocks)


@dataclass(frozen=True)
class DataSet:
    """A set of the registry.

    In a file of several sets its arrays are named ``<name>_X``, ``<name>_Y``, ...; in a file of its
    own they have no such prefix.
    """

    name: str
    file: str
    title: str
    origin: str
    terms: str
    cite: str
    note: str = ""
    openml: OpenMLTable | None = None
    alone: bool = False  # whether its file holds nothing else

    @property
    def prefix(self) -> str:
        """What the names of its arrays begin with."""
        return "" if self.alone else f"{self.name}_"

    @property
    def description(self) -> str:
        """Text for ``Bunch.DESCR``."""
        lines = [self.title, f"Origin: {self.origin}", f"Terms: {self.terms}", f"Cite: {self.cite}"]
        return "\n".join(lines + [self.note] * bool(self.note))


NOT_STATED = "not stated where the copy was taken from; look them up before publishing the data."
_TECATOR_NOTE = (
    "Permission note, to be kept with the data: These data are recorded on a Tecator Infratec "
    "Food and Feed Analyzer working in the wavelength range 850 - 1050 nm by the Near Infrared "
    "Transmission (NIT) principle. Each sample contains finely chopped pure meat with different "
    "moisture, fat and protein contents. If results from these data are used in a publication we "
    "want you to mention the instrument and company name (Tecator) in the publication. In "
    "addition, please send a preprint of your article to Karin Thente, Tecator AB, Box 70, S-263 "
    "21 Hoganas, Sweden. The data are available in the public domain with no responsability from "
    "the original data source. The data can be redistributed as long as this permission note is "
    "attached."
)


def _nir(
    name: str,
    title: str,
    *,
    origin: str,
    terms: str,
    cite: str,
    note: str = "",
    openml: OpenMLTable | None = None,
) -> DataSet:
    title = f"Near-infrared spectra: {title}."
    return DataSet(name, "nir.npz", title, origin, terms, cite, note, openml)


NIR = {
    row.name: row
    for row in (
        _nir(
            "corn",
            "80 samples of corn, 700 wavelengths on each of three instruments",
            origin="Cargill, distributed by Eigenvector Research.",
            terms="redistribution permitted.",
            cite="M. Blackburn (Cargill), Corn data set, Eigenvector Research.",
        ),
        _nir(
            "tecator",
            "240 samples of chopped meat, 100 channels",
            origin="Tecator AB; H. H. Thodberg.",
            terms="public domain with the permission note below.",
            cite="H. H. Thodberg, A review of Bayesian neural networks with an application to "
            "near infrared spectroscopy, IEEE Transactions on Neural Networks 7 (1996) 56-72.",
            note=_TECATOR_NOTE,
            openml=OpenMLTable(505, 240, (("X", 100), ("pcs", 22), ("Y", 3)), "moisture"),
        ),
        _nir(
            "dough",
            "72 pieces of cookie dough, 700 wavelengths",
            origin="B. G. Osborne, T. Fearn, A. R. Miller and S. Douglas, J. Sci. Food Agric. 35 "
            "(1984) 99-105.",
            terms="CC BY-NC 3.0.",
            cite="P. J. Brown, T. Fearn and M. Vannucci, Bayesian wavelet regression on curves "
            "with application to a spectroscopic calibration problem, JASA 96 (2001) 398-408.",
            note="Rows 22 and 60 are often dropped as outliers; they are in the data.",
        ),
        _nir(
            "gasoline",
            "60 gasolines, 401 wavelengths, octane number",
            origin="J. H. Kalivas, copy of the R package pls.",
            terms="GPL-2 (of the package).",
            cite="J. H. Kalivas, Two data sets of near infrared spectra, Chemometrics and "
            "Intelligent Laboratory Systems 37 (1997) 255-259.",
        ),
        _nir(
            "yarn",
            "28 PET yarns, 268 wavelengths, density",
            origin="H. Swierenga et al., copy of the R package pls.",
            terms="GPL-2 (of the package).",
            cite="H. Swierenga, A. P. de Weijer, R. J. van Wijk and L. M. C. Buydens, Strategy for "
            "constructing robust multivariate calibration models, Chemometrics and Intelligent "
            "Laboratory Systems 49 (1999) 1-17.",
        ),
    )
}


def _mulan(
    name: str, title: str, data_id: int, shape: tuple[int, int, int], first: str, note: str = ""
) -> DataSet:
    n, p, q = shape
    return DataSet(
        name=name,
        file="mulan_regression.npz",
        title=f"{title}: {n} rows, {p} inputs, {q} targets.",
        origin="collection of multi-target regression sets of the Mulan project.",
        terms=NOT_STATED,
        cite="E. Spyromitros-Xioufis, G. Tsoumakas, W. Groves and I. Vlahavas, Multi-target "
        "regression via input space expansion: treating targets as inputs, Machine Learning 104 "
        "(2016) 55-98, and the set's own authors named there.",
        note=note,
        openml=OpenMLTable(data_id, n, (("X", p), ("Y", q)), first),
    )


MULAN = {
    row.name: row
    for row in (
        _mulan("atp1d", "Air ticket prices, a day", 41475, (337, 411, 6), "LBL+ALLminpA+fut_001"),
        _mulan("atp7d", "Air ticket prices, a week", 41476, (296, 411, 6), "LBL+ALLminpA+bt7d_000"),
        _mulan("edm", "Electrical discharge machining", 41477, (154, 16, 2), "DFlow"),
        _mulan("enb", "Energy efficiency of buildings", 41478, (768, 8, 2), "Y1"),
        _mulan("jura", "Heavy metals in soil of the Swiss Jura", 41479, (359, 15, 3), "Cd"),
        _mulan(
            "oes97",
            "Occupational employment survey 1997",
            41481,
            (334, 263, 16),
            "58028_Shipping__Receiving__and_Traffic_Clerks",
        ),
        _mulan(
            "rf1",
            "River flow, 48 hours ahead",
            41483,
            (9125, 64, 8),
            "CHSI2_48H__0",
            note="3264 inputs are missing (NaN).",
        ),
        _mulan("scm20d", "Supply chain prices, 20 days ahead", 41486, (8966, 61, 16), "LBL"),
        _mulan("wq", "Water quality of Slovenian rivers", 41491, (1060, 16, 14), "25400"),
    )
}


_FACES_ONLY_FOR_RESEARCH = f"{NOT_STATED} Owners of face sets give them for research only."


def _pictures(
    name: str, file: str, title: str, *, origin: str, cite: str, note: str = "", faces: bool = False
) -> DataSet:
    terms = _FACES_ONLY_FOR_RESEARCH if faces else NOT_STATED
    return DataSet(name, file, f"{title}.", origin, terms, cite, note, alone=True)


FACES = {
    row.name: row
    for row in (
        _pictures(
            "yale",
            "yale_faces.npz",
            "Yale faces: 15 persons x 11 conditions, 64 x 64 pixels, cropped and aligned",
            origin="Yale University.",
            cite="P. N. Belhumeur, J. P. Hespanha and D. J. Kriegman, Eigenfaces vs. Fisherfaces: "
            "recognition using class specific linear projection, IEEE Transactions on Pattern "
            "Analysis and Machine Intelligence 19 (1997) 711-720.",
            note="Two pictures occur twice: person 3 normal and sad, person 8 noglasses and normal.",
            faces=True,
        ),
        _pictures(
            "orl",
            "orl_faces.npz",
            "ORL (AT&T) faces: 40 persons x 10 pictures, 112 x 92 pixels",
            origin="AT&T Laboratories Cambridge (Olivetti Research Laboratory).",
            cite="F. S. Samaria and A. C. Harter, Parameterisation of a stochastic model for human "
            "face identification, IEEE Workshop on Applications of Computer Vision (1994) 138-142.",
            faces=True,
        ),
        _pictures(
            "cbcl",
            "cbcl_faces.npz",
            "MIT-CBCL faces: the 2429 faces of the training set, 19 x 19 pixels",
            origin="MIT Center for Biological and Computational Learning.",
            cite="CBCL Face Database #1, MIT Center for Biological and Computational Learning.",
            note="Three pictures occur twice. Persons are not named; non-faces are not included.",
            faces=True,
        ),
    )
}

OBJECTS = {
    row.name: row
    for row in (
        _pictures(
            "coil20",
            "coil20.npz",
            "COIL-20: 20 objects x 72 views on a turntable, 32 x 32 pixels",
            origin="Columbia University.",
            cite="S. A. Nene, S. K. Nayar and H. Murase, Columbia Object Image Library (COIL-20), "
            "Technical Report CUCS-005-96, Columbia University (1996).",
            note="The angle is five degrees times the place in the sequence of views.",
        ),
        _pictures(
            "eth80",
            "eth80.npz",
            "ETH-80: 8 categories x 10 objects x 41 views, 64 x 64 pixels",
            origin="ETH Zurich, B. Leibe and B. Schiele.",
            cite="B. Leibe and B. Schiele, Analyzing appearance and contour based methods for "
            "object categorization, IEEE Conference on Computer Vision and Pattern Recognition "
            "(2003).",
        ),
    )
}

USPS = _pictures(
    "usps",
    "usps.npz",
    "USPS: 9298 handwritten digits of zip codes, 16 x 16 pixels",
    origin="US Postal Service.",
    cite="Y. LeCun et al., Backpropagation applied to handwritten zip code recognition, Neural "
    "Computation 1 (1989) 541-551.",
)

SILHOUETTES = _pictures(
    "silhouette_pose",
    "silhouette_pose.npz",
    "Silhouettes of a moving person, 1927 + 418 histograms of shape contexts, 21 points of the body",
    origin="A. Agarwal and B. Triggs; copy of the GPmat toolbox.",
    cite="A. Agarwal and B. Triggs, Recovering 3D human pose from monocular images, IEEE Transactions "
    "on Pattern Analysis and Machine Intelligence 28 (2006) 44-58.",
    note="The first two points coincide and never move: 6 of the 63 outputs are constant.",
)

STATUE = _pictures(
    "statue_face_pose",
    "statue_face_pose.npz",
    "698 rendered pictures of a statue's head, 32 x 32 pixels, with pan, tilt and light",
    origin="J. B. Tenenbaum, V. de Silva and J. C. Langford.",
    cite="J. B. Tenenbaum, V. de Silva and J. C. Langford, A global geometric framework for nonlinear "
    "dimensionality reduction, Science 290 (2000) 2319-2323.",
    note="The three angles were standardised at the source; the degrees are lost.",
)


def _multilabel(name: str, title: str, cite: str) -> DataSet:
    origin = "collection of multi-label sets of the Mulan project."
    return DataSet(name, "multilabel.npz", f"{title}.", origin, NOT_STATED, cite)


MULTILABEL = {
    row.name: row
    for row in (
        _multilabel(
            "scene",
            "Scene: 2407 photographs, 294 inputs, 6 labels",
            "M. R. Boutell, J. Luo, X. Shen and C. M. Brown, Learning multi-label scene "
            "classification, Pattern Recognition 37 (2004) 1757-1771.",
        ),
        _multilabel(
            "yeast",
            "Yeast: 2417 genes, 103 inputs, 14 labels",
            "A. Elisseeff and J. Weston, A kernel method for multi-labelled classification, Advances "
            "in Neural Information Processing Systems 14 (2001).",
        ),
        _multilabel(
            "emotions",
            "Emotions: 593 pieces of music, 72 inputs, 6 labels",
            "K. Trohidis, G. Tsoumakas, G. Kalliris and I. Vlahavas, Multi-label classification of "
            "music into emotions, ISMIR (2008).",
        ),
        _multilabel(
            "corel5k",
            "Corel5k: 5000 photographs, 499 inputs, 374 labels",
            "P. Duygulu, K. Barnard, J. de Freitas and D. Forsyth, Object recognition as machine "
            "translation, European Conference on Computer Vision (2002).",
        ),
    )
}


def _table(name: str, file: str, title: str, *, origin: str, cite: str, note: str = "") -> DataSet:
    return DataSet(name, file, f"{title}.", origin, NOT_STATED, cite, note, alone=True)


TABLES = {
    row.name: row
    for row in (
        _table(
            "abalone",
            "abalone.npz",
            "Abalone: 4177 shells, 7 measures and the sex, number of rings",
            origin="W. J. Nash et al., UCI repository.",
            cite="W. J. Nash, T. L. Sellers, S. R. Talbot, A. J. Cawthorn and W. B. Ford, The "
            "population biology of abalone in Tasmania, Sea Fisheries Division 48 (1994).",
        ),
        _table(
            "kin8nm",
            "kin8nm.npz",
            "kin-8nm: forward kinematics of an eight-link robot arm, 8192 postures",
            origin="Delve, University of Toronto.",
            cite="C. E. Rasmussen et al., The DELVE manual, University of Toronto (1996).",
        ),
        _table(
            "pumadyn",
            "pumadyn32nm.npz",
            "pumadyn-32nm: dynamics of a Puma 560 robot arm, 8192 states, 32 inputs",
            origin="Delve, University of Toronto.",
            cite="C. E. Rasmussen et al., The DELVE manual, University of Toronto (1996).",
            note="Every column was standardised at the source.",
        ),
    )
}

LETTER = _table(
    "letter",
    "letter.npz",
    "Letter recognition: 20000 distorted capital letters, 16 numbers each",
    origin="D. J. Slate, UCI repository.",
    cite="P. W. Frey and D. J. Slate, Letter recognition using Holland-style adaptive "
    "classifiers, Machine Learning 6 (1991) 161-182.",
)

SARCOS = _table(
    "sarcos",
    "sarcos_small.npz",
    "SARCOS: inverse dynamics of a seven-joint robot arm, 4449 rows, 21 inputs, 7 torques",
    origin="S. Vijayakumar, A. D'Souza and S. Schaal.",
    cite="C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine learning, MIT "
    "Press (2006), Sec. 2.5.",
    note="The rows of the customary test file; the training file is not included.",
)


def _raetsch(name: str, title: str, note: str = "") -> DataSet:
    return DataSet(
        name,
        "raetsch.npz",
        f"{title}.",
        "UCI, Delve and Statlog, in the form of G. Raetsch's benchmarks.",
        NOT_STATED,
        "G. Raetsch, T. Onoda and K.-R. Mueller, Soft margins for AdaBoost, Machine Learning 42 "
        "(2001) 287-320.",
        note,
    )


RAETSCH = {
    row.name: row
    for row in (
        _raetsch("banana", "Banana: 5300 points of the plane, two bent classes"),
        _raetsch("breast_cancer", "Breast cancer: 277 patients, 9 inputs"),
        _raetsch("flare_solar", "Solar flares: 1066 regions, 9 inputs", "Many rows are repeats."),
        _raetsch("german", "German credit: 1000 customers, 20 inputs"),
        _raetsch("image", "Image segments: 2310 segments, 18 inputs", "224 rows are repeats."),
        _raetsch("waveform", "Waveform: 5000 noisy curves, 21 inputs"),
    )
}

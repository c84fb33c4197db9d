"""Generators: what proposes candidates for an answer from the input that it belongs to."""

from isthmus.preimages.generators.alignment import Alignment as Alignment
from isthmus.preimages.generators.alignment import align as align
from isthmus.preimages.generators.classifier import AlignedClassifier
from isthmus.preimages.generators.generator import Generator
from isthmus.preimages.generators.joint import JointNgrams
from isthmus.preimages.generators.molecules import MoleculeLibrary
from isthmus.preimages.generators.molecules import formula as formula
from isthmus.preimages.generators.molecules import mass as mass
from isthmus.preimages.generators.neighbours import Dictionary, NeighbourAnswers
from isthmus.preimages.generators.pool import LogPool

__all__ = [
    "AlignedClassifier",
    "Dictionary",
    "Generator",
    "JointNgrams",
    "LogPool",
    "MoleculeLibrary",
    "NeighbourAnswers",
]

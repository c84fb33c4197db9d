from isthmus.preimages.generators.alignment import Alignment as Alignment
from isthmus.preimages.generators.alignment import align as align
from isthmus.preimages.generators.classifier import AlignedClassifier as AlignedClassifier
from isthmus.preimages.generators.generator import Generator as Generator
from isthmus.preimages.generators.joint import JointNgrams as JointNgrams
from isthmus.preimages.generators.molecules import MoleculeLibrary as MoleculeLibrary
from isthmus.preimages.generators.molecules import formula as formula
from isthmus.preimages.generators.molecules import mass as mass
from isthmus.preimages.generators.neighbours import Dictionary as Dictionary
from isthmus.preimages.generators.neighbours import NeighbourAnswers as NeighbourAnswers
from isthmus.preimages.generators.order import content_order as content_order
from isthmus.preimages.generators.order import copy_groups as copy_groups
from isthmus.preimages.generators.order import identity as identity
from isthmus.preimages.generators.pool import LogPool as LogPool
from isthmus.preimages.generators.windows import are_symbols as are_symbols

__all__ = [
    "AlignedClassifier",
    "Dictionary",
    "Generator",
    "JointNgrams",
    "LogPool",
    "MoleculeLibrary",
    "NeighbourAnswers",
]

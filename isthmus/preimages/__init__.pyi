from isthmus.preimages.base import Preimage as Preimage
from isthmus.preimages.candidate_search import CandidateSearch as CandidateSearch
from isthmus.preimages.distance import Distance as Distance
from isthmus.preimages.exact import Exact as Exact
from isthmus.preimages.fixed_point import FixedPoint as FixedPoint
from isthmus.preimages.generators.classifier import AlignedClassifier as AlignedClassifier
from isthmus.preimages.generators.generator import Generator as Generator
from isthmus.preimages.generators.joint import JointNgrams as JointNgrams
from isthmus.preimages.generators.molecules import MoleculeLibrary as MoleculeLibrary
from isthmus.preimages.generators.neighbours import Dictionary as Dictionary
from isthmus.preimages.generators.neighbours import NeighbourAnswers as NeighbourAnswers
from isthmus.preimages.generators.pool import LogPool as LogPool
from isthmus.preimages.gradient import Gradient as Gradient
from isthmus.preimages.graph_moves import random_code as random_code
from isthmus.preimages.graphs import GraphSearch as GraphSearch
from isthmus.preimages.learned import Learned as Learned
from isthmus.preimages.make import make_preimage as make_preimage
from isthmus.preimages.nearest import Nearest as Nearest
from isthmus.preimages.object_losses import ObjectLosses as ObjectLosses
from isthmus.preimages.paths import PathSearch as PathSearch
from isthmus.preimages.rank_order import ranks as ranks
from isthmus.preimages.sequences import SequenceSearch as SequenceSearch

__all__ = [
    "AlignedClassifier",
    "CandidateSearch",
    "Dictionary",
    "Distance",
    "FixedPoint",
    "Generator",
    "Gradient",
    "GraphSearch",
    "JointNgrams",
    "Learned",
    "LogPool",
    "MoleculeLibrary",
    "Nearest",
    "NeighbourAnswers",
    "SequenceSearch",
]

"""Generators: what proposes candidates for an answer from the input that it belongs to."""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "classifier": "AlignedClassifier",
        "generator": "Generator",
        "joint": "JointNgrams",
        "molecules": "MoleculeLibrary",
        "neighbours": "Dictionary NeighbourAnswers",
        "pool": "LogPool",
    },
    neighbours={
        "alignment": "Alignment align",
        "molecules": "formula mass",
        "order": "content_order copy_groups identity",
        "windows": "are_symbols",
    },
)

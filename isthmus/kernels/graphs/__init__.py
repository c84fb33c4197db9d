"""Kernels of labelled graphs: networkx, RDKit molecules, (labels, edges), adjacency matrices.

===============================  =========================  ========================================
name                             file                       what two graphs have in common
===============================  =========================  ========================================
``GraphKernel``                  ``marginalised.py``        random walks that meet the same labels
``WeisfeilerLehman``             ``weisfeiler_lehman.py``   counts of refined labels
``WeisfeilerLehmanAssignment``   ``weisfeiler_lehman.py``   nodes, assigned by refined labels
``WeisfeilerLehmanWasserstein``  ``weisfeiler_lehman.py``   shares of nodes, moved by refined labels
``ShortestPath``                 ``shortest_path.py``       pairs of nodes at the same distance
``Cycles``                       ``cycles.py``              rings with the same labels around them
``graph_kernels``                ``choices.py``             kernels to choose among
``Graph``                        ``graph.py``               a labelled graph; ``as_graph`` makes one
``from_smiles``, ``to_smiles``   ``molecules.py``           molecules as text, through RDKit
===============================  =========================  ========================================
"""

from isthmus.kernels.graphs.choices import default_graph_kernel, graph_kernels
from isthmus.kernels.graphs.cycles import Cycles
from isthmus.kernels.graphs.graph import Graph, as_graph
from isthmus.kernels.graphs.marginalised import GraphKernel
from isthmus.kernels.graphs.molecules import from_smiles, to_molecule, to_smiles
from isthmus.kernels.graphs.shortest_path import ShortestPath
from isthmus.kernels.graphs.weisfeiler_lehman import (
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
)

__all__ = [
    "Cycles",
    "Graph",
    "GraphKernel",
    "ShortestPath",
    "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
    "WeisfeilerLehmanWasserstein",
    "as_graph",
    "default_graph_kernel",
    "from_smiles",
    "graph_kernels",
    "to_molecule",
    "to_smiles",
]

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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {},
    neighbours={
        "choices": "default_graph_kernel",
        "graph": "are_graphs as_graphs edge_marks",
        "packed": "pack",
    },
)

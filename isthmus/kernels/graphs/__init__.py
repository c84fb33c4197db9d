"""Kernels of labelled graphs: networkx, RDKit molecules, (labels, edges), adjacency matrices.

====================  =========================  ==========================================
name                  file                       what two graphs have in common
====================  =========================  ==========================================
``GraphKernel``       ``marginalised.py``        random walks that meet the same labels
``WeisfeilerLehman``  ``weisfeiler_lehman.py``   counts of refined labels
``Graph``             ``graph.py``               a labelled graph; ``as_graph`` makes one
====================  =========================  ==========================================
"""

from isthmus.kernels.graphs.graph import Graph, as_graph
from isthmus.kernels.graphs.marginalised import GraphKernel
from isthmus.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman

__all__ = ["Graph", "GraphKernel", "WeisfeilerLehman", "as_graph"]

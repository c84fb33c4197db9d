from isthmus.kernels.graphs.choices import default_graph_kernel as default_graph_kernel
from isthmus.kernels.graphs.graph import are_graphs as are_graphs
from isthmus.kernels.graphs.graph import as_graphs as as_graphs
from isthmus.kernels.graphs.graph import edge_marks as edge_marks
from isthmus.kernels.graphs.packed import pack as pack

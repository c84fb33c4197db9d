from isthmus.kernels.sequences.encoding import Alphabet as Alphabet
from isthmus.kernels.sequences.encoding import Ints as Ints
from isthmus.kernels.sequences.encoding import as_sequences as as_sequences
from isthmus.kernels.sequences.encoding import plain as plain
from isthmus.kernels.sequences.labels import label_matrix as label_matrix
from isthmus.kernels.sequences.ngrams import NgramKernel as NgramKernel
from isthmus.kernels.sequences.ngrams import ngram_levels as ngram_levels
from isthmus.kernels.sequences.vectors import are_vectors as are_vectors

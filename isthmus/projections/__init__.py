"""Supervised projections: a few coordinates of the inputs that predict the outputs.

================  ============  ==================================================================
name              file          what it looks for
================  ============  ==================================================================
``SIR``           ``sir.py``    linear directions in which slice means differ
``KernelSIR``     ``sir.py``    the same, curved
``COIR``          ``coir.py``   curved, outputs through a kernel instead of slices
``KernelCCA``     ``cca.py``    curved, coordinates of both sides that correlate
``MORP``          ``morp.py``   coordinates from which inputs and outputs can be rebuilt
``KDR``           ``kdr.py``    linear directions by conditional independence, a slow baseline
================  ============  ==================================================================

All but the last are the leading eigenvectors of one problem with another matrix ``G`` of the outputs:
``couplings.py`` has the matrices, ``eigen.py`` the solver in its four forms, ``problem.py`` chooses the
form by size and fits any rows, ``crossval.py`` chooses ridge and components, ``held_out.py`` judges.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "cca": "KernelCCA",
        "coir": "COIR",
        "kdr": "KDR",
        "morp": "MORP",
        "sir": "KernelSIR SIR",
    },
)

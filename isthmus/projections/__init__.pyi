from isthmus.projections.cca import KernelCCA as KernelCCA
from isthmus.projections.coir import COIR as COIR
from isthmus.projections.kdr import KDR as KDR
from isthmus.projections.morp import MORP as MORP
from isthmus.projections.sir import KernelSIR as KernelSIR
from isthmus.projections.sir import SIR as SIR

__all__ = [
    "COIR",
    "KDR",
    "KernelCCA",
    "KernelSIR",
    "MORP",
    "SIR",
]

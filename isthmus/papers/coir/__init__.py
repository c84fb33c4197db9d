"""Kim and Pavlovic 2008, *Dimensionality Reduction using Covariance Operator Inverse Regression* [KP2008]_.

==================================  ========================================================
in the paper                        here
==================================  ========================================================
Sec. 2, SIR and kernel SIR          ``isthmus.SIR``, ``isthmus.KernelSIR``
Sec. 3, COIR                        ``isthmus.COIR``; as printed ``method="inverse"``
Sec. 4.1, curves                    ``isthmus.datasets.make_curves``
figure 1, Tables 1 and 2            ``tables.py``, on ``coordinates.py``
==================================  ========================================================

Nothing that the paper prints was replaced: both forms of its eigenproblem share all but one line.
"""

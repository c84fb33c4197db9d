"""Tables and figures of the papers, run again: published numbers beside measured ones.

=========================  =====================================================================
file                       what is in it
=========================  =====================================================================
``registry.py``            ``EXPERIMENTS``: names, papers, questions, protocols, from a .toml file
``base.py``                ``Experiment``, ``Result``, ``Claim``
``page.py``                ``render_page``: one HTML page of several results
``sources.py``             the papers' data where they are found, otherwise stand-ins
``linear_maps.py``         the report on Stiefel constraints; chapter 2 of the thesis
``picture_tables.py``      faces, objects, digits (``trials.py``, ``classify_pictures.py``,
                           ``restore_pictures.py``)
``projection_tables.py``   COIR and MORP (``projections.py``)
``super_resolution.py``    pre-images of digits
``structures.py``          sequences and graphs
``reduced_sets.py``        chapter 4 of the thesis
``movements.py``           chapters 5 and 6 (``camera.py``: from pictures to an arm)
=========================  =====================================================================

The same functions are called by ``benchmarks/``. The command is ``isthmus reproduce``. No name here is
public.
"""

"""Whole applications of the library, built on its public interface.

==============  ======================================================
room            what it does
==============  ======================================================
``imitation``   a robot arm follows a person, by optimisation and by
                learning from camera images
==============  ======================================================
"""

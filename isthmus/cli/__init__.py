"""The command ``isthmus``: from two tables to a model, a prediction and a report.

================= ================================================================================
file              what it does
================= ================================================================================
``app.py``        the sub-commands, the exit codes, errors in one line
``console.py``    what is said and where: tables, notices, progress, JSON
``decisions.py``  what is decided about a table, as one table
``matching.py``   new rows against the columns of a model
``demo.py`` ...   one sub-command each, a function of the file's name
================= ================================================================================

Nothing here imports numpy or scikit-learn until a sub-command runs: help answers at once.
"""

from isthmus.cli.app import main as main  # the command, not a public name

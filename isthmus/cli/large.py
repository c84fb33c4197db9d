"""Tables that are larger than the memory bound: one pass over their blocks, and a model of low rank."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from isthmus.cli.app import InputError
from isthmus.problems import Rows
from isthmus.tables import Reading


def is_large(path: str, memory: float | None) -> bool:
    """Whether the numbers of a file take more than the bound, in MiB; None is scikit-learn's."""
    from sklearn import get_config

    bound = 2**20 * (get_config()["working_memory"] if memory is None else memory)
    if path == "-" or ":" in os.path.basename(path) or not os.path.exists(path):
        return False
    if os.path.isdir(path):
        return True
    # Parquet is compressed: its size on disk says little of its numbers.
    if path.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        described = pq.ParquetFile(path).metadata
        return bool(8 * described.num_rows * described.num_columns > bound)
    return os.path.getsize(path) > bound


def open_rows(path: str, targets: list[str], reading: Reading, memory: float | None) -> Rows:
    """Return the rows of a table as a source; the names of columns are those of its header."""
    if not targets:
        raise InputError(f"{path} is read in blocks: name the outputs with --target-columns.")
    if os.path.isdir(path):
        rows = Rows.from_parquet(path, y=targets, memory=memory)
        rows.progress = lambda done, total: reading.progress("rows", done, total)
        return rows
    with reading.open(path, numeric=targets) as reader:
        for sentence in reader.sentences():
            reading.tell(sentence)
        outputs = reader.columns_of(targets)
        inputs = [column for column in reader.data_columns if column not in outputs]
        names = [column.name for column in inputs], [column.name for column in outputs]

    def blocks() -> Iterator[tuple[Any, Any]]:
        with reading.open(path, numeric=targets) as reader:
            wanted = [*reader.columns_of(names[0]), *reader.columns_of(names[1])]
            for block in reader.rows(wanted):
                holes = np.isnan(block.values)
                if holes.any():
                    i, j = np.argwhere(holes)[0].tolist()
                    raise InputError(
                        f"{path}: column {wanted[j].name!r} has no value in {reader.place} "
                        f"{block.lines[i]}: fill it or leave the row out; a table that is read in blocks "
                        "must be complete."
                    )
                yield block.values[:, : len(inputs)], block.values[:, len(inputs) :]

    rows = Rows(blocks, memory=memory)
    rows.feature_names, rows.target_names = names
    return rows


def fit_large(rows: Rows, options: dict[str, Any]) -> Any:
    """Choose ranks, and ridge weights if there are any, from the moments of the folds, in one pass.

    A second pass draws rows for the domain and the intervals.
    """
    from isthmus.inspection import Trusted
    from isthmus.model_selection import ComponentSearchCV
    from isthmus.regression import PCR, PLS, ReducedRankRegression

    models = {"pls": PLS, "pcr": PCR, "reduced_rank": ReducedRankRegression}
    # One pass gives moments, from which PLS, PCR and reduced rank alone can be fitted.
    methods = ["pls"] if options["methods"] == "auto" else options["methods"]
    name = ",".join(methods)
    if name not in models:
        raise InputError(
            f"--method {name}: a table that is read in blocks takes one of {', '.join(models)}."
        )
    cv = 5 if options["cv"] == "auto" else options["cv"]
    if cv == "time":
        raise InputError("--cv time needs all rows in memory: raise --memory.")
    scale = {} if options["scale"] == "auto" else {"scale": options["scale"]}
    components = options["n_components"]
    n_components = None if components == "auto" else [components]
    search = ComponentSearchCV(models[name](**scale), n_components=n_components, cv=cv)
    return Trusted(search).fit(rows)


def tell_large(console: Any, trusted: Any, path: str, output: str) -> None:
    """Show how a table was fitted in blocks."""
    search = trusted.estimator_
    model = search.best_estimator_
    told = {
        "method": type(model).__name__,
        "rows": int(model.n_samples_),
        "features": int(search.n_features_in_),
        "targets": trusted.target_names_,
        "components": int(model.n_components_),
        "score": search.best_score_,
        "folds": search.n_splits_,
        "files": [path],
    }
    console.say(
        f"{told['rows']} rows read in blocks: {told['method']}, {told['components']} components, "
        f"R2 {told['score']:.4f} in {told['folds']} folds."
    )
    console.say(f"Model: {output}")
    console.result({"model": output, **told})

"""``isthmus predict``: new rows through a saved model."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.options import Header, IdColumn, TrustedKey, Types

_MOST_TOLD = 1000  # rows outside that the result lists
_MOST_COMPARED = 100_000  # rows that a shift of the whole is judged by


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model file from isthmus fit or isthmus.save.")
    ],
    new: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW",
            help="New rows with the columns of the training table, or -; a model of several tables needs "
            "as many, in the same order.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="CSV, TSV, Parquet, Feather or .npy; or -."),
    ] = "predictions.csv",
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            help="Add bounds that contain this share of new outputs, for example 0.95.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Report the distance of each row from the training rows, whether it is outside, and why.",
        ),
    ] = True,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Keep texts that begin with = + - @ unchanged; a spreadsheet would run them.",
        ),
    ] = False,
    id_column: IdColumn = None,
    types: Types = None,
    header: Header = None,
    trusted_key: TrustedKey = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the outputs of new rows; columns are matched by name.

    The output also has, for each row, its distance from the training data (above 1 is outside), outside
    (yes or no) and the reason. Bounds of rows outside are widened by their distance, and left empty if
    they would exceed the range of the training outputs.

    For example:

        isthmus predict model.isthmus new.csv -o out.csv --interval 0.95

        isthmus predict model.isthmus nir_new.csv raman_new.csv -o out.csv
    """
    console = begin(quiet, as_json)
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter(f"--interval {interval} must be between 0 and 1, such as 0.95.")

    from isthmus.cli.app import InputError
    from isthmus.cli.matching import NewRows
    from isthmus.cli.models import load_model
    from isthmus.cli.planning import file_of, plan
    from isthmus.persistence import Outputs
    from isthmus.tables import WRITABLE, Reading

    read = [path for each in new for path in file_of(each)]
    with Outputs(inputs=[model, *read]) as outputs:
        table_file = plan(outputs, output, WRITABLE)
        search = load_model(model, trusted_key)
        if interval is not None and "classes" in getattr(search, "origin_", {}):
            raise InputError(
                f"{model} predicts classes, which have no bounds: leave out --interval."
            )
        with console.progress() as progress:
            reading = Reading(header, id_column, types, progress=progress)
            with NewRows(search, new, reading, search.target_names_) as rows:
                found = Outside() if check and search.domain_ is not None else None
                n_rows = _write(search, rows, table_file, output, interval, found, raw)
    console.say(f"{n_rows} rows predicted: {output}")
    told: dict[str, Any] = {"outside": None}
    if found is not None:
        console.say(found.summary())
        if interval is not None and found.causes:
            console.say(found.rule())
        # What the fit warned of has happened if the new rows have moved.
        for notice in search.notices_ if found.has_moved else ():
            if notice != search.tell_unusual():
                console.notice(f"at the fit, {notice}")
        told = {
            "outside": found.causes.total(), "causes": found.causes, "flagged": found.first,
            "shift_p_value": found.shift, "withheld": found.withheld,
        }  # fmt: skip
    elif check:
        console.notice(
            f"{model} has no domain: predictions are not checked. Fit it with isthmus fit, or save "
            "isthmus.inspection.Trusted(model).fit(X, y) in place of the model."
        )
    targets = list(search.target_names_)
    console.result({"rows": n_rows, "targets": targets, "output": output, **told})


class Outside:
    """Rows outside of the domain: how many and why, and the first of them."""

    def __init__(self) -> None:
        self.causes: Counter[str] = Counter()
        self.first: list[dict[str, Any]] = []
        self.n_rows = 0
        self.withheld = 0
        self._distances: list[Any] = []
        self._usual: Any = None

    def add(self, trust: Any, ids: list[str] | None, withheld: int) -> None:
        """Count the rows of a block, and those of them without bounds."""
        self.causes.update(filter(None, trust.causes))
        for i in trust.outside.nonzero()[0][: _MOST_TOLD - len(self.first)]:
            row = {"row": self.n_rows + int(i) + 1, "distance": float(trust.distance[i])}
            name = {} if ids is None else {"id": ids[i]}
            self.first.append({**row, **name, "reason": trust.reasons[i]})
        # The first blocks are enough to compare distances as a whole, and memory stays bounded.
        if self.n_rows < _MOST_COMPARED:
            self._distances.append(trust.distance)
        self._usual = trust.usual
        self.withheld += withheld
        self.n_rows += len(trust.outside)

    def summary(self) -> str:
        """Return the sentence for all blocks."""
        from isthmus.inspection import tell_outside

        return tell_outside(self.n_rows, self.causes, self.shift)

    @property
    def has_moved(self) -> bool:
        """Whether the rows lie farther out as a whole than chance takes them."""
        from isthmus.inspection import RARE_SHIFT

        return self.shift < RARE_SHIFT

    @property
    def shift(self) -> float:
        """Probability that the rows lie so far out as a whole by chance."""
        import numpy as np

        from isthmus.inspection import shift_p_value

        return shift_p_value(np.concatenate(self._distances), self._usual)

    def rule(self) -> str:
        """Return the sentence about bounds of rows outside."""
        told = "Bounds of rows outside are widened by their distance"
        if not self.withheld:
            return f"{told}."
        rows = "row has none" if self.withheld == 1 else "rows have none"
        return (
            f"{told}; {self.withheld} {rows}: they would exceed the range of the training outputs."
        )


def _write(
    search: Any, rows: Any, table_file: Any, output: str, interval: float | None,
    found: Outside | None, raw: bool,
) -> int:  # fmt: skip
    """Predict block by block and write as it goes; without ``found`` rows are not checked."""
    import os
    import sys

    import numpy as np

    from isthmus.cli.console import current
    from isthmus.tables import Writer, pick_labels

    names = list(search.target_names_)
    classes = getattr(search, "origin_", {}).get("classes")
    if interval is not None:
        names = [each for name in names for each in (name, f"{name} lower", f"{name} upper")]
    texts: list[str] = []
    if found is not None:
        # An output may be called "distance" itself.
        added = [_free_name(name, names) for name in ("distance", "outside", "reason")]
        names, texts = [*names, added[0]], added[1:]
    if classes is not None:
        texts = [classes["column"], *texts]
    id_column = rows.reader.id_column
    suffix = ".csv" if output == "-" else os.path.splitext(output)[1].lower()

    def write(data: bytes) -> None:
        if output != "-":
            table_file.write(data)
            return
        sys.stdout.buffer.write(data)
        # A reader at the other end of a pipe sees each block as soon as it is ready.
        sys.stdout.buffer.flush()

    writer = Writer(
        suffix, write, lambda: table_file.part, None if id_column is None else id_column.name, names,
        text_names=texts, raw=raw,
    )  # fmt: skip
    try:
        for X, ids in rows.blocks():
            values = np.asarray(search.predict_rows(X)).reshape(len(X), -1)
            asks = found is not None or interval is not None
            checks = asks and search.domain_ is not None
            trust = search.check_rows(X, values) if checks else None
            withheld = 0
            if interval is not None:
                bounds = [b.reshape(len(X), -1) for b in search.interval_rows(X, interval, trust)]
                outside = np.zeros(len(X), dtype=bool) if trust is None else trust.outside
                # Infinite bounds are withheld for rows outside; inside they mean too few training rows.
                empty = np.isinf(bounds[1]) & outside[:, None]
                withheld = int(empty.any(axis=1).sum())
                if np.isinf(bounds[1][~outside]).any():
                    current().notice(
                        f"too few training rows for {interval:g} intervals: bounds are infinite."
                    )
                bounds = [np.where(empty, np.nan, bound) for bound in bounds]
                values = np.stack([values, *bounds], axis=2).reshape(len(X), -1)
            labels = [] if classes is None else [pick_labels(values, classes["labels"])]
            if found is None or trust is None:
                writer.append(ids, values, labels)
                continue
            found.add(trust, ids, withheld)
            words = ["yes" if out else "no" for out in trust.outside]
            values = np.column_stack([values, trust.distance])
            writer.append(ids, values, [*labels, words, trust.reasons])
        # An empty table is an input error, not an empty answer.
        if not writer.n_rows:
            raise ValueError(f"{rows.reader.path} has no rows.")
        writer.finish()
    finally:
        writer.close()
    return writer.n_rows


def _free_name(name: str, taken: list[str]) -> str:
    """A name that no output has."""
    if name not in taken:
        return name
    return _free_name(f"{name} of the row", taken)

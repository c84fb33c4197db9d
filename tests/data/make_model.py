"""Write the saved model of a release, and what it predicts: ``python tests/data/make_model.py``.

A file once released stays as it is: later releases of the same format write their own and must load all.
"""

import json
from pathlib import Path

import isthmus
from isthmus.datasets import make_low_rank_regression
from isthmus.persistence.container import FORMAT

HERE = Path(__file__).parent


def main():
    X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.3, random_state=0)
    search = isthmus.fit_auto(X, Y, cv=5, methods=["pls", "ridge", "reduced_rank", "stiefel"])
    stem = HERE / f"model-{isthmus.__version__}-format{FORMAT}"
    isthmus.save(search, stem.with_name(stem.name + ".isthmus"))
    told = {"X": X[:5].tolist(), "prediction": search.predict(X[:5]).tolist()}
    stem.with_name(stem.name + ".json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()

# `make demo` and `make test` need Python 3.11 or newer and make, and nothing else.
# Another interpreter: make test PYTHON=python3.13

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2

PY := $(VENV)/bin/python

.PHONY: demo test lint bench docs clean

demo: $(VENV)/.demo
	$(PY) examples/restore_digits.py

test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	    $(PY) -m pytest -n $(WORKERS)

lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# Files whose name starts with an underscore are helpers of the others.
bench: $(VENV)/.dev
	@set -e; for script in benchmarks/[!_]*.py; do \
	    echo "== $$script"; $(PY) "$$script"; \
	done

# What is generated in docs/ and shown to the reader.
docs: $(VENV)/.dev
	$(PY) benchmarks/real_data.py --write docs/real_data.md
	$(PY) benchmarks/faces.py --write docs/faces.md

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	rm -f isthmus-*.png isthmus-demo.* drifting_stream.png
	find isthmus tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml when it has changed: then pip runs again.
$(VENV)/.dev: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.demo: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[plot]'
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is too old or missing: Python 3.11 or newer is needed;" \
	           "name one with PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || \
	    { rm -rf $(VENV); echo "No virtual environment could be made; on Debian:" \
	           "apt-get install python3-venv" >&2; exit 1; }

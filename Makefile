# `make demo` and `make test` need Python 3.11 or newer and make, and nothing else.
# Another interpreter: make test PYTHON=python3.13

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2

PY := $(VENV)/bin/python
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Percent of lines and branches that the tests reach: as measured with one case of each test; raise it with them.
COVERAGE ?= 93

.PHONY: demo test all-tests quick slow coverage test-oldest test-processors lint shape bench docs tables fuzz clean

demo: $(VENV)/.demo
	$(PY) -m isthmus.cli demo

# Linters and tests side by side.
test: $(VENV)/.dev $(VENV)/.browser $(VENV)/.graphics
	@$(MAKE) --no-print-directory -j 2 lint all-tests

all-tests:
	$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal

# The inner loop: what is not in tests/slow.txt, without lint, less than 90 seconds on two cores.
quick: $(VENV)/.dev
	$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) -m "not slow"

# Measure all tests and write the list of the slow ones.
slow: $(VENV)/.dev $(VENV)/.browser $(VENV)/.graphics
	$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --write-slow

coverage: $(VENV)/.dev $(VENV)/.browser $(VENV)/.graphics
	$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) \
	    --cov --cov-report=term:skip-covered --cov-fail-under=$(COVERAGE)

# The lower bounds of pyproject.toml. Left out are the examples, the documents, whose printed numbers
# are NumPy 2's, the application, which has packages of its own, and Dask, which is newer. Warnings do
# not fail here: old versions of the packages warn about each other.
test-oldest: $(VENV)-oldest/.installed
	$(ONE_THREAD) ISTHMUS_OLDEST=1 $(VENV)-oldest/bin/python -W default -m pytest -W default \
	    -n $(WORKERS) tests --ignore=tests/test_examples.py --ignore=tests/test_docs.py \
	    --ignore=tests/applications --ignore=tests/reports/test_browser.py

# OpenBLAS has kernels of its own for every family of processors, and each rounds in its own way.
PROCESSORS ?= Nehalem Haswell SkylakeX Zen
NOT_NUMERICAL := applications cli datasets persistence reports tables test_architecture.py test_bench.py \
                 test_docs.py test_examples.py test_promises.py test_security.py test_site.py test_versions.py
NUMERICAL  ?= tests $(addprefix --ignore=tests/,$(NOT_NUMERICAL))

test-processors: $(VENV)/.dev
	@set -e; for processor in $(PROCESSORS); do \
	    echo "== OPENBLAS_CORETYPE=$$processor"; \
	    OPENBLAS_CORETYPE=$$processor $(PY) -c 'import scipy.linalg as s; s.qr(s.hilbert(99))' || \
	        { echo "This machine has not the instructions of $$processor: left out."; continue; }; \
	    $(ONE_THREAD) OPENBLAS_CORETYPE=$$processor $(PY) -m pytest -n $(WORKERS) $(NUMERICAL); \
	done

lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# How large and how tangled the library is, against its limits.
shape: $(VENV)/.dev
	$(PY) benchmarks/shape.py

# One JSON with machine, versions and threads, and the page of ratios: build/bench.json and .md.
# Some scripts, and what changed: make bench BENCH='--only linear,kernels --compare old.json'
BENCH ?=
bench: $(VENV)/.dev
	$(PY) benchmarks/_suite.py $(BENCH)

# Model files that are changed at random; the tests do so for ten seconds.
FUZZ_SECONDS ?= 3600
fuzz: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(PY) tests/persistence/fuzz.py --seconds $(FUZZ_SECONDS)

# The site, in build/site: without network, without a warning; examples that have not changed are not run again.
docs: $(VENV)/.docs
	$(ONE_THREAD) $(PY) -m sphinx -W --keep-going -q -b html docs build/site
	@echo "Open build/site/index.html"

# The measured tables of the site.
tables: $(VENV)/.dev
	$(PY) benchmarks/accuracy.py --write docs/accuracy.md
	$(PY) benchmarks/real_data.py --write docs/real_data.md
	$(PY) benchmarks/faces.py --write docs/faces.md
	$(PY) benchmarks/projections_tables.py --write docs/projections.md
	$(PY) benchmarks/preimages.py --write docs/preimages.md
	$(PY) benchmarks/compression.py --write docs/compression.md
	$(PY) benchmarks/dependency.py --write docs/dependency.md
	$(PY) benchmarks/imitation.py --write docs/imitation.md
	$(PY) benchmarks/kinematics.py --write docs/imitation.md
	$(PY) benchmarks/silhouettes.py --write docs/imitation.md

clean:
	rm -rf $(VENV) $(VENV)-oldest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage
	rm -f isthmus-*.png isthmus-demo.* drifting_stream.png examples/*.png
	rm -rf docs/generated docs/gallery
	find isthmus tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml when it has changed: then pip runs again.
$(VENV)/.dev: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)-oldest/.installed: pyproject.toml .ci/oldest.py | $(PY)
	$(PY) -m venv --clear $(VENV)-oldest
	$(PY) .ci/oldest.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	    --constraint $(VENV)-oldest/constraints.txt \
	    --editable '.[cli,plot,report,parquet,graphs,bayes]' \
	    pytest pytest-xdist pytest-timeout pandas polars statsmodels openpyxl python-calamine
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/.demo: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[cli,report]'
	@touch $@

# The tests of the report drive Debian's Chromium; where it may not be installed they are skipped.
$(VENV)/.browser: | $(PY)
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	    { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	          chromium fonts-dejavu-core >/dev/null; } || \
	    echo "No chromium, and no right to install it: the tests of the report in a browser are skipped."
	@touch $@

# Films of the imitation are rendered in software by Mesa; where it may not be installed those
# tests are skipped.
$(VENV)/.graphics: | $(PY)
	@$(PY) -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library("OSMesa"))' || \
	    { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	          libosmesa6 >/dev/null; } || \
	    echo "No libosmesa6, and no right to install it: the tests that render a person are skipped."
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is too old or missing: Python 3.11 or newer is needed;" \
	           "name one with PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || \
	    { rm -rf $(VENV); echo "No virtual environment could be made; on Debian:" \
	           "apt-get install python3-venv" >&2; exit 1; }

# The commands of the README, each complete on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
EMPTY := .venv-release

.PHONY: demo test soak bench lint types format release-check clean

demo: $(VENV)/.demo
	$(BIN)/kedge demo

test: lint types
	$(BIN)/pytest -n auto --cov --cov-report=
	$(BIN)/python .ci/floors.py

# Promises under hostile conditions, for an hour: SOAK='--minutes 600 --answers 10000000' for longer.
soak: $(VENV)/.test
	$(BIN)/python benchmarks/soak.py $(SOAK)

# kedge against its peers, an hour and a half on two cores; BENCH=--quick tries every part in a few minutes.
bench: $(VENV)/.test $(PEERS)/.ready
	$(BIN)/python -m benchmarks.peers.run --peers $(PEERS)/bin/python $(BENCH)
	$(if $(filter --quick,$(BENCH)),,$(BIN)/python benchmarks/peers/quote.py)
	$(BIN)/python -m benchmarks.scaling $(filter --quick,$(BENCH))
	$(BIN)/python -m benchmarks.startup

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What a release consists of: built, checked, and the wheel tried where nothing else is installed.
release-check: $(VENV)/.release
	rm -rf dist $(EMPTY)
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python .ci/release.py dist/*
	$(PYTHON) -m venv $(EMPTY)
	$(EMPTY)/bin/python -m pip install --quiet dist/*.whl
	cd $(EMPTY) && bin/python -I -m kedge demo
	cd $(EMPTY) && bin/python -I -m kedge explain "The soup was cold, but the staff were friendly." --html page.html
	rm -rf $(EMPTY)

clean:
	rm -rf $(VENV) $(PEERS) $(EMPTY) dist

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet torch==2.13.0 # the CPU build; the newest would bring gigabytes
	$(BIN)/python -m pip install --quiet --editable '.[dask,data,plot,reproduce,safe,scripts,serve,torch,transformers]' --group dev
	touch $@

$(VENV)/.release: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group release
	touch $@

# The peers pin old versions of numpy, so they live apart; scikit-learn is the same, for the models' sake.
$(PEERS)/.ready: Makefile | $(VENV)/.test
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PEERS)/bin/python -m pip install --quiet torch==2.13.0 anchor-exp alibi lime shap spacy click \
	  scikit-learn==$$($(BIN)/python -c 'import sklearn; print(sklearn.__version__)')
	touch $@

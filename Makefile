# Every target works on a fresh machine with Python 3.11 or newer, make and gcc, and creates its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# When the package was installed, and when the tools for its development were.
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
RELEASE_TOOLS := $(VENV)/.release-tools
JOBS ?= auto
DATASETS := src/rfdag/datasets

.PHONY: demo test processors lint docs format bench scaling reproduction peers soak release lowest audit clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: $(INSTALLED)  ## learn the causal order of the bundled Sachs data
	@echo "Sachs et al. 2005: proteins in human T cells, log scale, in nine experimental conditions with known targets."
	@$(BIN)/rfdag learn $(DATASETS)/sachs_conditions.csv --environments condition --targets $(DATASETS)/sachs_condition_targets.csv --out demo-results

test: $(TOOLS)  ## run all tests
	$(BIN)/python -m pytest -n $(JOBS) -q

processors: $(TOOLS)  ## run the tests that depend on arithmetic, and compare answers, as other processors round (an hour)
	$(BIN)/python benchmarks/processors.py $(PROCESSORS)

lint: $(TOOLS)  ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(TOOLS)  ## build the documentation into site/; warnings are errors
	@rm -rf site
	$(BIN)/sphinx-build --fail-on-warning --fresh-env --keep-going --quiet -d build/doctrees docs site

format: $(TOOLS)  ## fix style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TOOLS)  ## run the benchmarks; writes docs/benchmarks.md
	$(BIN)/python benchmarks/noisy.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/figures.py

clean:  ## remove what the other targets created
	rm -rf $(VENV) demo-results site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .grimp_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@echo "Installing rfdag into $(VENV) (once)…"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $(INSTALLED)

$(TOOLS): pyproject.toml constraints.txt
	@echo "Installing rfdag and the tools for its development into $(VENV) (once)…"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(INSTALLED) $(TOOLS)

$(RELEASE_TOOLS): $(TOOLS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[release]"
	@touch $(RELEASE_TOOLS)

soak: $(TOOLS)  ## run the long tests of reliability (a night; mutants and fuzzing resume); writes docs/reliability.md
	for part in torture same readers arguments kills faults interrupts load mutants; do \
		$(BIN)/python benchmarks/soak_$$part.py || exit 1; \
	done

release: $(RELEASE_TOOLS)  ## build wheel and sdist, and try each on every supported Python found (half an hour); publishes nothing
	PYTHONPATH=benchmarks $(BIN)/python releasing/release.py $(if $(TAG),--tag $(TAG))

lowest: $(TOOLS)  ## try the lowest and highest versions of every dependency (half an hour); writes docs/versions.md
	$(BIN)/python benchmarks/soak_versions.py

audit: $(RELEASE_TOOLS)  ## check the dependencies' licences, and known vulnerabilities where their service can be reached
	$(BIN)/python releasing/audit.py

scaling: $(TOOLS)  ## measure how time and memory grow (hours); writes docs/scaling.md
	$(BIN)/python benchmarks/dense.py
	$(BIN)/python benchmarks/sparse_input.py
	$(BIN)/python benchmarks/wide.py
	$(BIN)/python benchmarks/streaming.py
	@echo "On a machine with a CUDA device, run benchmarks/gpu.py too, and then benchmarks/scaling.py."
	$(BIN)/python benchmarks/scaling.py

reproduction: $(TOOLS)  ## rerun the paper's experiments (hours; resumes where it stopped); writes docs/reproduction.md
	$(BIN)/rfdag reproduce all --out docs/reproduction --page docs/reproduction.md

peers: $(TOOLS)  ## install the packages that `rfdag bench` compares with, each in its own environment
	$(BIN)/rfdag bench --setup

# Each target ends with status 0 only when all it promises held. The first one makes .venv; to use a Python that has
# torch and the rest (see pyproject.toml) already: make test PYTHON=/path/to/python, or PYTHON in the environment

TORCH ?= $(shell sed -n '/^torch_tested:/,/default:/s/.*default: "\(.*\)"/\1/p' copier.yml)
BASE_PYTHON ?= python3
VENV = .venv
PYTHON ?= $(VENV)/bin/python
PYTEST_ARGS ?=
# What is built takes one worker, and both processors most of the time; the other worker reads text meanwhile.
in_parallel = --numprocesses 2 --no-loadscope-reorder
ANSWERS ?= examples/default.yml
ONLY ?=
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help environment demo-environment demo test matrix long test-torch lint docs variant mutate bench

# `make help` lists the lines with ##, below the headings.

## Every day

help: ## what can be made
	@awk -F ':.*## ' '/^## / { print "\n" substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)

demo: demo-environment ## render a backend for the device nova, build it and train a network on it
	"$(PYTHON)" tools/variants.py examples/default.yml --make demo

test: environment ## questions, every combination as text, and the default variant with its quick tests
	"$(PYTHON)" -m pytest $(in_parallel) $(PYTEST_ARGS)

variant: environment ## render ANSWERS=examples/full.yml into build/variants/full and build what has changed there
	"$(PYTHON)" tools/variants.py $(ANSWERS)

lint: environment ## ruff, mypy, clang-format, the workflows; this repository's files and those it renders
	"$(PYTHON)" -m ruff check .
	"$(PYTHON)" -m ruff format --check .
	"$(PYTHON)" -m mypy
	"$(PYTHON)" tools/variants.py examples/opencl.yml --make lint
	"$(PYTHON)" tools/variants.py examples/minimal.yml --make lint
	"$(PYTHON)" tools/variants.py examples/opencl.yml --run ruff check --config pyproject.toml ../opencl.checks
	find build/variants/opencl/runtime build/variants/opencl/csrc -name '*.h' -or -name '*.cpp' \
		| xargs "$(PYTHON)" -c "import clang_format; clang_format.clang_format()" --dry-run --Werror
	"$(PYTHON)" -m check_jsonschema --builtin-schema vendor.github-workflows \
		.github/workflows/*.yml build/variants/opencl/.github/workflows/*.yml
	"$$("$(PYTHON)" -c 'import sysconfig; print(sysconfig.get_path("scripts"))')/zizmor" --offline --no-progress --quiet \
		.github build/variants/opencl/.github
	"$(PYTHON)" -m pre_commit validate-config .pre-commit-config.yaml build/variants/opencl/.pre-commit-config.yaml

## Before a merge

matrix: environment ## more variants of tests/matrix.yml and the other memory, the tools, more updates
	"$(PYTHON)" -m pytest -m matrix $(in_parallel) $(PYTEST_ARGS)

mutate: environment ## break one line at a time in a copy of a variant: its tests must fail; ONLY="free guard": some breaks
	"$(PYTHON)" tools/variants.py $(ANSWERS) --run mutate $(ONLY)

docs: environment ## the guide, in build/docs/html; a warning is an error
	"$(PYTHON)" -m sphinx --fail-on-warning --keep-going --quiet -d build/docs/doctrees docs build/docs/html

bench: environment ## what `copier copy` of the working tree takes, and where its time goes
	"$(PYTHON)" tools/time_copy.py

## Releases

long: environment ## all variants, the whole suite in both kinds of memory, conformance, sanitizers, clang, a build without the emulation, other runtimes, the sdist, all updates, the guide's first page by copy and paste
	"$(PYTHON)" -m pytest -m long $(PYTEST_ARGS)

# Another release may be a CUDA wheel of several gigabytes; no CUDA toolkit is needed for it.
# OTHER_PYTHON has the tested torch; a wheel for all releases is loaded by both.
test-torch: VENV = build/torch-$(TORCH)
ifeq ($(origin PYTHON),file)
test-torch: OTHER_PYTHON = .venv/bin/python
else
test-torch: OTHER_PYTHON=$(PYTHON)
endif
test-torch: ## TORCH=2.15.0: the default and the full variant with another torch, in an environment of its own
	env -u PYTHON $(MAKE) environment VENV=$(VENV) TORCH=$(TORCH)
	OTHER_PYTHON="$(OTHER_PYTHON)" VARIANTS_DIR=$(VENV)/variants $(VENV)/bin/python -m pytest -m "" \
		tests/test_reserved_names.py tests/test_releases.py $(PYTEST_ARGS) \
		$(addprefix tests/test_build.py::test_,suite[default] suite[default-discrete] suite[full-discrete-quick] distributed libraries) \
		$(addprefix tests/test_build.py::test_,what_the_template_brings_along[default] wheel_in_a_clean_environment[default])

ifeq ($(origin PYTHON),file)
environment: $(VENV)/torch-$(TORCH).installed
demo-environment: $(VENV)/torch-$(TORCH).demo
endif

# torch is named in the release that is tested: a plain `torch` elsewhere would fetch the newest one, with gigabytes of
# CUDA. pip before 25.1 knows no dependency groups. A demo imports few of torch's files: those are compiled when it does.
$(VENV)/torch-$(TORCH).demo: pyproject.toml
	@"$(BASE_PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or later is needed, this is " \
		+ sys.version.split()[0] + ": make BASE_PYTHON=/path/to/python ...")'
	"$(BASE_PYTHON)" -m venv $(VENV)
	@echo "Installing torch $(TORCH) and what compiles the backend into $(VENV); this happens once."
	@"$(PYTHON)" -m pip install --quiet --upgrade pip
	@"$(PYTHON)" -m pip install --quiet --no-compile torch==$(TORCH) --group demo
	@rm -f $(VENV)/torch-*.demo $(VENV)/torch-*.installed
	@touch $@

$(VENV)/torch-$(TORCH).installed: $(VENV)/torch-$(TORCH).demo
	@echo "Installing the tools of the tests into $(VENV); this happens once."
	@"$(PYTHON)" -m pip install --quiet torch==$(TORCH) --group dev
	@touch $@

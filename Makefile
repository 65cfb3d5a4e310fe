SHELL := /bin/sh
.DEFAULT_GOAL := help
# Tests and checks start Python a hundred times; without its cache each start would compile everything again.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Environments of their own, since their pins clash with those of .venv or are heavy: requirements/*.txt has each.
TOOL_VENVS := .venv-fuzz .venv-sdk .venv-frameworks .venv-kotlin .venv-console .venv-audit .venv-release
STACK_VENVS := .venv-stack .venv-runtime .venv-ministack .venv-checkov
# PYTHON313, Lambda's Python; without it `make test-stack` skips the steps that build.
include shared/python.mk
# A module is run by one worker, since its tests may share a service; tests/conftest.py puts the modules into order.
# Not loadgroup: pytest-xdist 3.8 forgets the groups under pytest 9.2, and says nothing.
ON_ALL_CORES := --numprocesses auto --dist loadfile --no-loadscope-reorder
# The first Python on the path that is new enough and can make virtual environments.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	if $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)

.PHONY: help setup demo run console console-pictures test test-all test-stack check format fuzz audit openapi pictures bench eval packages pins clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## create .venv; every other target does this first

$(STAMP): requirements/dev.txt pyproject.toml client/pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "Streambank needs Python 3.11 or newer with its venv module (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; fi
	@echo "Setting up $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable client
	@touch $(STAMP)

$(TOOL_VENVS:=/.installed): .venv-%/.installed: requirements/%.txt
	@echo "Setting up .venv-$* ..."
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@touch $@

$(STACK_VENVS:=/.installed): .venv-%/.installed: requirements/%.txt
	@echo "Setting up .venv-$* ..."
	@"$(PYTHON313)" -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@touch $@

demo: $(STAMP)  ## play a conversation through local mode and show its memories
	@$(BIN)/python -m streambank_local.demo

run: $(STAMP)  ## serve on http://127.0.0.1:8080, token "local"; DATA=DIR keeps everything; PORT=8111, AUTH=keys or jwt, CHANGES=URL of a webhook
	@STREAMBANK_COMMAND="make run" $(BIN)/python -m streambank_local \
		$(if $(PORT),--port $(PORT)) $(if $(AUTH),--auth $(AUTH)) $(if $(DATA),--data "$(DATA)") \
		$(if $(CHANGES),--changes-webhook "$(CHANGES)")

console: .venv-console/.installed  ## serve local mode, and the console on http://127.0.0.1:8092; PORT of local mode, DATA=DIR
	@PYTHONPATH=shared:client:infra:. .venv-console/bin/python -m streambank_local.command console --local \
		$(if $(PORT),--url http://127.0.0.1:$(PORT)) $(if $(DATA),--data "$(DATA)")

console-pictures: .venv-console/.installed  ## take docs/pictures/console in a browser
	@STREAMBANK_PICTURES=1 .venv-console/bin/python -m pytest -k pictures tests/console

test: $(STAMP)  ## run the fast tests, a few minutes
	@$(BIN)/python -m pytest -m "not slow" $(ON_ALL_CORES)

test-all: $(STAMP) .venv-fuzz/.installed .venv-sdk/.installed .venv-frameworks/.installed .venv-kotlin/.installed .venv-console/.installed  ## run all tests, many minutes
	@$(BIN)/python -m pytest $(ON_ALL_CORES)
	@STREAMBANK_JOURNEYS_MODEL=bedrock $(BIN)/python -m pytest -m "not slow" $(ON_ALL_CORES) tests/journeys
	@STREAMBANK_JOURNEYS_MODEL=openai $(BIN)/python -m pytest -m "not slow" $(ON_ALL_CORES) tests/journeys
	@.venv-console/bin/python -m pytest -m slow tests/console

test-stack: $(STAMP) $(if $(PYTHON313),$(STACK_VENVS:=/.installed))  ## lint, build, start and deploy the template in emulators
	@$(BIN)/python -m infra.stack

check: $(STAMP)  ## run ruff, mypy, the import contracts and the rules for prose
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=shared:client:infra:. $(BIN)/lint-imports --no-cache
	@$(BIN)/python -m infra.prose
	@$(BIN)/proselint --config .proselintrc.json check README.md CONTRIBUTING.md SECURITY.md docs/*.md docs/decisions/*.md

format: $(STAMP)  ## format the code and apply ruff's fixes
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

fuzz: $(STAMP) .venv-fuzz/.installed  ## send 2,000 generated requests to local mode
	@$(BIN)/python -m infra.fuzz

audit: .venv-audit/.installed  ## look up known vulnerabilities of the pins in a public database
	@.venv-audit/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes -r shared/requirements.txt
	@.venv-audit/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes -r requirements/dev.txt

openapi: $(STAMP)  ## write docs/openapi.json
	@$(BIN)/python -m infra.openapi

pictures: $(STAMP)  ## draw docs/pictures
	@$(BIN)/python -m infra.pictures

bench: $(STAMP)  ## measure costs: AWS calls, request units, model calls, CPU
	@$(BIN)/python -m benchmarks

eval: $(STAMP)  ## precision and recall of a model on the gold set; MODEL=bedrock:MODEL-ID or openai:MODEL-ID, ARGS="--limit 20"
	@$(BIN)/python -m streambank_local.command eval --results build/evaluation.jsonl $(if $(MODEL),--model $(MODEL)) $(ARGS)

packages: .venv-release/.installed  ## build the distributions into dist/ and check their metadata
	@rm -rf dist
	@for project in . client; do \
		.venv-release/bin/python -m build --no-isolation --outdir dist $$project >/dev/null || exit 1; done
	@.venv-release/bin/twine check --strict dist/*

pins:  ## update the pinned requirements (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra dev --extra strands pyproject.toml client/pyproject.toml --output-file requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-emit-index-url --no-header \
		requirements/layer.in --output-file shared/requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/fuzz.in --output-file requirements/fuzz.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/sdk.in --output-file requirements/sdk.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/frameworks.in --output-file requirements/frameworks.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/kotlin.in --output-file requirements/kotlin.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/audit.in --output-file requirements/audit.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--constraint requirements/dev.txt --extra console --extra server --extra local \
		pyproject.toml requirements/console.in --output-file requirements/console.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/release.in --output-file requirements/release.txt
	for name in stack runtime ministack checkov; do \
		uv pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-emit-index-url --no-header \
			requirements/$$name.in --output-file requirements/$$name.txt; done
	for name in mem0 langmem strands; do \
		uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
			requirements/peers/$$name.in --output-file requirements/peers/$$name.txt; done

clean:  ## remove everything that the targets create
	rm -rf $(VENV) $(TOOL_VENVS) $(STACK_VENVS) .venv-peers .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist .aws-sam

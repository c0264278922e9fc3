# Two commands are all a stranger needs: `make lab` and `make test`.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PATH := $(CURDIR)/.venv/bin:$(PATH)

NOTEBOOK := notebooks/guide/00-quickstart.ipynb
UI := extensions/ui
UI_SOURCES := $(shell find $(UI)/src -type f 2>/dev/null) $(wildcard $(UI)/*.ts $(UI)/*.json) octo_lab/notebook/turn.css

.PHONY: help setup lab demo test lint format bench guide pictures lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready octo_lab/notebook/static/.built ## prepare .venv and build the front end

lab: setup ## open JupyterLab on the quickstart
	@.ci/lab $(NOTEBOOK)

demo: setup ## run the quickstart headless and print the conversation
	@.ci/demo $(NOTEBOOK)

test: setup ## everything that CI runs
	@.ci/test

lint: setup ## ruff, mypy, import contracts, svelte-check
	@.ci/lint

format: .venv/.ready ## let ruff format the code
	@ruff format . && ruff check --fix .

bench: setup ## speed and size, beside peers, in one run
	@.ci/bench

guide: setup ## run the guide's notebooks anew and keep what they show
	@.ci/guide

pictures: setup ## take the README's pictures from the real product
	@.ci/pictures

lock: .venv/.ready ## resolve the dependencies anew
	@uv pip compile pyproject.toml --group pyproject.toml:dev --extra postgres --universal --upgrade \
	    --python-version 3.11 --no-header --quiet --output-file requirements.lock

clean: ## remove everything that was built
	@rm -rf .venv .cache dist artifacts octo_lab/notebook/static $(UI)/node_modules

.venv/.ready: requirements.lock pyproject.toml .ci/setup $(wildcard kernels/octo/*)
	@.ci/setup

$(UI)/node_modules/.ready: $(UI)/package-lock.json | .venv/.ready
	@echo "Installing what builds the front end ..."; cd $(UI) && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.ready

octo_lab/notebook/static/.built: $(UI)/node_modules/.ready $(UI_SOURCES)
	@cd $(UI) && npm run --silent build && touch $(CURDIR)/$@

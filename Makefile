# Every target sets up what it needs; nothing has to be installed first but Python 3.11 and make.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
PY := .venv/bin/python
# One more than there are cores: tests often wait for a process, a disk or a database.
WORKERS ?= $(shell $(PY) -c 'import os; print((os.cpu_count() or 1) + 1)')
# Tests start hundreds of processes, which begin quicker with compiled modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.venv/ready: constraints.txt tools/setup
	@tools/setup

.PHONY: setup
setup: .venv/ready ## Build the virtual environment from the pinned packages

.PHONY: test
test: .venv/ready ## Run every test, on an embedded Postgres of its own
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

.PHONY: demo
demo: .venv/ready ## See it work, on a throw-away garden home
	@$(PY) -m garden demo

.PHONY: check
check: .venv/ready ## Format, lint, types, import layers and plain words
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m mypy --platform darwin --cache-dir .mypy_cache/darwin garden
	@.venv/bin/lint-imports --no-logo
	@$(PY) tools/check_words.py

.PHONY: format
format: .venv/ready ## Format and fix what can be fixed mechanically
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

.PHONY: soak
soak: .venv/ready ## Run the long versions of the tests that race and tamper (25 minutes)
	@GARDEN_TEST_KILLS=12 GARDEN_TEST_RESTARTS=25 GARDEN_TEST_KEYS=500 GARDEN_TEST_READS=50000 \
		GARDEN_TEST_EDITS=500 GARDEN_TEST_SWAPS=100000 GARDEN_TEST_TOOL_SWAPS=5000 GARDEN_TEST_REQUESTS=10000 \
		GARDEN_TEST_SEQUENCES=1000 GARDEN_TEST_INTERLEAVINGS=all GARDEN_HYPOTHESIS=nightly \
		GARDEN_TEST_TAMPERINGS=50 GARDEN_TEST_CLEAN_EVENTS=100000 GARDEN_TEST_REPLIES=100000 \
		GARDEN_TEST_CHARACTERS=1000000 \
		$(PY) -m pytest -n $(WORKERS) --dist worksteal tests/grammar/test_random_edits.py \
		tests/crash/test_killed_writers.py tests/crash/test_start_up.py \
		tests/gateway/test_text_protocol.py tests/events/test_server_restarts.py tests/events/test_idempotency.py tests/events/test_tenancy.py tests/events/test_verifier.py \
		tests/history/test_tampering.py tests/files/test_paths.py tests/files/test_swapped_links.py tests/tools/test_swapped_links.py \
		tests/tools/test_requests.py tests/upkeep/test_interleavings.py tests/writing \
		tests/surfaces/web/console/test_markdown.py $(ARGS)

N ?= 120
OUTAGES ?= 3
BAD_LINES ?= 1
POWER ?= --shallow --every 2
TRACED ?= patch plant move
SAMPLE ?= 10
.PHONY: crash
crash: .venv/ready ## Kill processes, stop the database, cut the power, fail system calls (five minutes; needs strace)
	@$(PY) -m tests.crash.killing --kills $(N)
	@$(PY) -m tests.crash.killing --prove
	@$(PY) -m tests.crash.outages --outages $(OUTAGES) --seasons $(BAD_LINES)
	@$(PY) -m tests.crash.power $(POWER)
	@$(PY) -m tests.crash.power --prove
	@$(PY) -m tests.crash.power --trace $(TRACED)
	@$(PY) -m tests.crash.faults --prove
	@$(PY) -m tests.crash.faults --sample $(SAMPLE) --seed $(N)

.PHONY: nightly
nightly: .venv/ready ## Run every long campaign: 100,000 examples per property, 300 kills, every fault (hours)
	@GARDEN_HYPOTHESIS=nightly $(PY) -m pytest -n $(WORKERS) --dist worksteal tests/grammar tests/lint $(ARGS)
	@GARDEN_TEST_CRASH=full $(PY) -m pytest -n $(WORKERS) --dist worksteal tests/crash
	@$(MAKE) crash N=300 OUTAGES=12 BAD_LINES=3 POWER="--every 10" TRACED= SAMPLE=1

.PHONY: mutants
mutants: .venv/ready ## Put faults into the product, one by one; the tests must notice each
	@$(PY) -m tests.mutants $(ARGS)

.PHONY: conformance
conformance: .venv/ready ## Test the MCP server with the protocol's own suite and inspector
	@$(PY) -m tests.surfaces.mcp.real_clients

.venv/browser/ready: .venv/ready tests/browser/constraints.txt tests/browser/package-lock.json tools/browser_setup
	@tools/browser_setup

.PHONY: browser
browser: .venv/browser/ready ## Test the console in Chromium, which is installed where that is possible
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal tests/browser $(ARGS)

.venv/integrations/ready: .venv/ready tests/integrations/constraints.txt tools/integrations_setup
	@tools/integrations_setup

.PHONY: integrations
integrations: .venv/integrations/ready ## Test the adapters in the frameworks they are for, and their types
	@$(PY) -m mypy --python-executable .venv/integrations/bin/python --cache-dir .venv/integrations/mypy \
		-p garden.integrations & types=$$!; \
	.venv/integrations/bin/python -m pytest -n $(WORKERS) --dist worksteal tests/integrations $(ARGS); \
	tests=$$?; wait $$types && exit $$tests

.PHONY: deploy-check
deploy-check: .venv/ready ## Check the files in deploy/ with linters and with the programs that read them
	@tools/deploy_check

.PHONY: screenshots
screenshots: .venv/browser/ready ## Take a picture of each view of the console, light and dark
	@$(PY) -m tools.screenshots

.venv/package/ready: .venv/ready tests/packaging/constraints.txt tests/packaging/package-lock.json tools/package_setup
	@tools/package_setup

.PHONY: package
package: .venv/package/ready ## Build dist/ and use it from empty environments: the demonstration, each client, the bundle
	@$(PY) -m tests.packaging.clients
	@$(PY) -m tests.packaging.installation

.PHONY: docs
docs: .venv/ready ## Write everything that is generated from code, and list what changed
	@$(PY) -m tools.docs

.PHONY: picture
picture: .venv/ready ## Draw the README's picture from a run of the demonstration
	@$(PY) tools/demo_picture.py

.PHONY: site
site: .venv/ready ## Build the documentation as a site, in build/site
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	@echo "Built: build/site/index.html"

.PHONY: bench
bench: .venv/ready ## Measure, as ratios within one run
	@$(PY) -m benchmarks $(ARGS)

.PHONY: lock
lock: .venv/ready ## Renew the pinned versions and hashes (ARGS=--upgrade for the newest)
	@tools/lock $(ARGS)

.PHONY: clean
clean: ## Remove the virtual environment and every cache
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

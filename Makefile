# Needs python3 (3.11 or newer, with venv), make and git; everything else is installed below this folder.
PYTHON ?= python3
PORT ?= 4566
VENV := .venv/bin
# In parallel: the deployed functions mostly wait.
PYTEST := $(VENV)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONPATH := .

.PHONY: help run test thorough tests unit lint check client clients console screenshots conformance conformance-dynamodb conformance-roles conformance-stacks examples description fuzz mutants bench lock audit
.DELETE_ON_ERROR:

# An environment whose Python is gone or too old is made again.
$(shell for made in .venv .venv-emulator; do \
  [ ! -e $$made/ready ] || $$made/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || rm -f $$made/ready; done)

# Prints each target with its line.
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-22s %s\n", $$1, $$2}' Makefile

run: .venv/ready .venv-emulator/ready ## deploys the shop to an emulator on this machine, and stays (README.md)
	@exec env PORT=$(PORT) FRESH=$(FRESH) EMPTY=$(EMPTY) CURRENCY=$(CURRENCY) TIMEZONE=$(TIMEZONE) LOG=$(LOG) \
	  SHOP_NAME="$(SHOP_NAME)" $(VENV)/python infra/local.py

# What README promises, each once: at most four minutes on two idle cores. `make check` runs every test.
test: .venv/ready .venv-emulator/ready ## what README promises
	@$(VENV)/python infra/browser.py
	$(PYTEST) -m "not thorough"

# The tests that `make test` leaves out.
thorough: .venv/ready .venv-emulator/ready ## the tests that `make test` leaves out
	@$(VENV)/python infra/browser.py
	$(PYTEST) -m thorough

# All tests that need no emulator.
unit: .venv/ready ## all tests that need no emulator
	$(PYTEST) --ignore=tests/e2e --ignore=tests/deploy

# In one run, whose deployments are made once.
tests: .venv/ready .venv-emulator/ready ## all tests: test and thorough
	@$(VENV)/python infra/browser.py
	$(PYTEST)

check: lint tests ## lint and all tests: what a change must pass

lint: .venv/ready ## ruff, mypy and cfn-lint
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy --strict chalicelib infra
	cd clients/python && ../../$(VENV)/mypy
	$(VENV)/cfn-lint infra/*.yaml infra/verification/*.yaml

# Generates the client's models and operations from the description of the API.
client: .venv/ready ## the Python client's models and operations, from the description of the API
	$(VENV)/python -m infra.description | $(VENV)/python clients/python/generate.py

# Makes the console's files, which are committed, from console/src. Needs Node (npm); nothing else that runs, tests or
# deploys the console does.
console: console/node_modules/ready ## the console's files, from console/src (needs Node)
	node console/build.mjs

screenshots: .venv/ready ## the pictures in docs/images, of a fresh `make run` that runs (needs a browser)
	$(VENV)/python infra/screenshots.py

console/node_modules/ready: console/package-lock.json
	@command -v npm >/dev/null || { echo "make console needs Node 20 (npm), which is not here; nothing else of the console does." >&2; exit 1; }
	npm ci --prefix console --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

# Repeats the calls of these tests on AWS's own DynamoDB engine (docs/conformance.md). Needs Java 17 and Maven; the engine
# is copied below .conformance/.
CONFORMANCE ?= tests/orders/test_machine.py tests/listing/test_agreement.py tests/customers/test_erasure.py \
  tests/storage/test_table.py tests/storage/test_commit.py tests/api_keys tests/request/test_rate_limits.py \
  tests/orders/test_repeats.py tests/listing/test_recount.py tests/imports/test_crashes.py tests/imports/test_jobs.py \
  tests/webhooks/test_delivery.py tests/webhooks/test_delivery_states.py
conformance: conformance-dynamodb conformance-roles conformance-stacks clients ## the double against AWS's DynamoDB, the roles, the stacks (needs Java, Node)

conformance-dynamodb: .venv/ready .conformance/ready ## the first of these
	LISTING_STEPS=$${LISTING_STEPS:-2000} $(PYTEST) -n 2 -p tests.conformance.plugin --timeout=1800 $(CONFORMANCE)

# Checks each function's calls, and calls it should not make, with a simulator of AWS's permissions. Needs Node. The
# simulator's licence is AGPL: it is installed below .conformance/, and is not part of this project.
CONFORMANCE_NODE := @cloud-copilot/iam-simulate@0.1.173 asl-validator@4.0.0
conformance-roles: .venv/ready .venv-emulator/ready .conformance/node/ready ## the second
	WALK=.conformance/walk.json $(VENV)/python -m pytest -p no:xdist tests/e2e/test_roles.py
	$(VENV)/python -m pytest -p no:xdist tests/conformance/test_policies.py

# Makes the stacks on LocalStack, which needs no containers for that; its DynamoDB is the engine above.
conformance-stacks: .venv/ready .conformance/ready .conformance/stacks/ready ## the third
	$(VENV)/python -m pytest -p no:xdist --timeout=900 tests/conformance/test_stacks.py

.conformance/stacks/ready: tests/conformance/stacks.txt
	rm -rf .conformance/stacks
	$(PYTHON) -m venv .conformance/stacks/venv
	.conformance/stacks/venv/bin/pip install -q -r $<
	@touch $@

.conformance/node/ready: Makefile
	@command -v npm >/dev/null || { echo "make conformance-roles needs Node (npm), which is not here; nothing else does." >&2; exit 1; }
	npm install --prefix .conformance/node --no-audit --no-fund --no-save --ignore-scripts --loglevel=error $(CONFORMANCE_NODE)
	@touch $@

.conformance/ready: tests/conformance/pom.xml
	@command -v java >/dev/null && command -v mvn >/dev/null || { echo "make conformance needs Java 17 and Maven (mvn), which are not here; nothing else does." >&2; exit 1; }
	mvn -q -B -f $< org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=$(CURDIR)/.conformance/lib -DincludeScope=runtime
	@touch $@

# Sends requests for some minutes. Every answer must match the API's description, and everything that is
# accepted must be readable. Then runs the tests whose examples are generated, with other examples each time.
GENERATED = $(shell grep -rlE "^from hypothesis" tests --include='test_*.py' --exclude-dir=e2e)
fuzz: .venv/ready .venv-emulator/ready ## random requests and random input
	$(VENV)/python -m tests.e2e.fuzz
	for round in 1 2 3 4 5; do HYPOTHESIS_PROFILE=random $(PYTEST) $(GENERATED) || exit 1; done

# Recreates the examples in the API's description by running the code, docs/limits.md, and the console's guide.
examples: .venv/ready ## the examples in the description of the API, docs/limits.md, the guide
	$(VENV)/python -m tests.support.examples >/dev/null
	$(VENV)/python -m infra.limits
	$(VENV)/python -m infra.guide

# Runs linters and client generators on the API's description, and counts the operations they find. Needs Node (npm).
DESCRIPTION_TOOLS := @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 openapi-typescript@7.13.0 typescript@5.9.3 axios@1.21.1
description: .venv/ready .description/ready ## linters and generators of others on the description (needs Node)
	$(VENV)/python -m tests.support.generators

# Generates clients for TypeScript, Python, Go and Java with openapi-generator, and one for Go with oapi-codegen; compiles
# each with a request, and counts its operations. Needs Node, Java 17, Maven and Go, and takes minutes.
OAPI_CODEGEN := github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
OPENAPI_GENERATOR := org.openapitools:openapi-generator-cli:7.23.0
clients: .venv/ready .description/ready .description/generator ## clients in TypeScript, Python, Java and Go from the description (needs Node, Java, Go)
	$(VENV)/python -m tests.support.generators compiled

.description/generator: Makefile
	@command -v java >/dev/null && command -v mvn >/dev/null && command -v go >/dev/null || { echo "make clients needs Java 17, Maven (mvn) and Go, which are not all here; nothing else does." >&2; exit 1; }
	rm -f .description/openapi-generator-cli-*.jar
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$(OPENAPI_GENERATOR) -DoutputDirectory=$(CURDIR)/.description
	GOBIN=$(CURDIR)/.description/bin go install $(OAPI_CODEGEN)
	@touch $@

.description/ready: Makefile
	@command -v npm >/dev/null || { echo "make description needs Node (npm), which is not here; nothing else does." >&2; exit 1; }
	npm install --prefix .description --no-audit --no-fund --no-save --ignore-scripts --loglevel=error $(DESCRIPTION_TOOLS)
	$(PYTHON) -m venv .description/venv
	.description/venv/bin/pip install -qq openapi-python-client==0.29.1 mypy==2.4.1 types-python-dateutil \
	  pydantic==2.14.4 urllib3==2.8.0 python-dateutil==4.0.0
	@touch $@

# Mutation testing: each condition of each write removed, then 400 small changes to the core. Prints the changes that no
# test of `make check` notices, except equivalent ones (tests/support/mutants_equivalent.txt).
# MUTANTS="--sample 60 --seed 1 2 3": of so many conditions and changes, three times.
# MUTANTS="--only orders/store --tests tests/orders": of one module, with the tests of one folder.
mutants: .venv/ready ## which wrong code no test notices
	$(VENV)/python -m tests.support.mutants $(MUTANTS)

bench: .venv/ready .venv-emulator/ready ## calls, CPU and cost of what the shop does
	$(VENV)/python -m bench

# Pins the newest versions that the .in files allow.
lock: .venv/ready ## pins the newest packages that the .in files allow
	for name in requirements requirements-pictures requirements-dev requirements-emulator requirements-audit; do \
	  $(VENV)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header $$name.in -o $$name.txt; \
	done

# Looks for known vulnerabilities in the packages that are deployed or used to test and deploy. Asks PyPI.
audit: .venv-audit/ready ## known vulnerabilities of the pinned packages
	.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.txt
	.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements-pictures.txt
	.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements-dev.txt

.venv-audit/ready: requirements-audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install -qq -r requirements-audit.txt
	@touch $@

.venv/ready: requirements-dev.txt requirements.txt requirements-pictures.txt clients/python/pyproject.toml
	@$(PYTHON) infra/install.py .venv requirements-dev.txt "Backroom, its tools and its tests" clients/python
	@touch $@

.venv-emulator/ready: requirements-emulator.txt
	@$(PYTHON) infra/install.py .venv-emulator requirements-emulator.txt "the embedded AWS"
	@touch $@

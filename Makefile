.DEFAULT_GOAL := help
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

LISTEN ?= 127.0.0.1:8002
NODE := $(shell node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null && command -v node)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Go links programs for arm64 into low memory, where the filter for foreign programs keeps a page free (seccomp.ProgramPath).
PIE := $(if $(filter arm64,$(shell go env GOARCH)),-buildmode=pie)
GOFLAGS_BUILD := -trimpath -buildvcs=false $(PIE) -ldflags "-s -w -X main.version=$(VERSION)"
STUDIO := web/dist/app/index.html
STUDIO_SOURCES := $(shell find web/src web/public web/scripts web/index.html web/*.ts -type f 2>/dev/null)
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PACKAGES := ./...
TYPESCRIPT := node_modules/@typescript/typescript-linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)/lib
FUZZTIME ?= 1m
ROUNDS ?= 200
SOAK ?= 10m
BACALHAU ?= $(ATELIER_TEST_BACALHAU)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Build everything and serve it on 127.0.0.1:8002
	@exec bin/atelier serve --listen $(LISTEN)

.PHONY: build
build: studio bin ## Build bin/atelier with the Studio inside

.PHONY: bin
bin:
	@mkdir -p bin
	@test ! -d $(TYPESCRIPT) || { mkdir -p bin/typescript && cp -u $(TYPESCRIPT)/* bin/typescript/; }
	CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o bin/atelier .  # jails drop privileges on all threads, which cgo forbids

.PHONY: studio
ifeq ($(NODE),)
studio:
	@echo "NOTE: Node 20 or newer is not here, so bin/atelier is built without the Studio." >&2
else
studio: $(STUDIO)
endif

$(STUDIO): node_modules/.package-lock.json $(STUDIO_SOURCES)
	npm run build
	@touch $@

# npm ci writes this file, so it is older than the lock file if and only if the lock file has changed.
node_modules/.package-lock.json: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: clients
ifeq ($(NODE),)
clients:
	@echo "NOTE: Node 20 or newer is not here, so the TypeScript client is not built." >&2
else
clients: node_modules/.package-lock.json ## Build clients/typescript
	npm run --silent build:clients
endif

.PHONY: test
test: build clients ## Run every test: Go, types, units, browser (RACE=1 for whole servers with -race too, BACALHAU=path for a node of your own)
	@RACE="$(RACE)" ATELIER_TEST_BACALHAU="$(BACALHAU)" scripts/test.sh

.PHONY: cover
cover: build ## Run the Go tests without the race detector and print the statement coverage; fails if a security boundary has less than 90 %
	@COVER=1 ATELIER_TEST_BACALHAU="$(BACALHAU)" scripts/test.sh

.PHONY: fuzz
fuzz: bin ## Run every fuzz target, and schemathesis, for a minute each (FUZZTIME=10s for less)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: bench
bench: build ## Measure against lower bounds of this machine and write docs/benchmarks.md (QUICK=1 for a short look, BEFORE=path to compare with an earlier build)
	@go run ./scripts/bench -binary bin/atelier $(if $(BEFORE),-before $(BEFORE)) $(if $(QUICK),-quick,-write docs/benchmarks.md)

.PHONY: profile
profile: build ## Profile the run path under load: processor time and allocations
	@go run ./scripts/profile -binary bin/atelier

.PHONY: soak
soak: build ## Stress the server and report growing resources (SOAK=1m for less than ten minutes)
	@go run ./scripts/soak -binary bin/atelier -for $(SOAK)

.PHONY: kill
kill: build ## Kill the server 200 times under load, on SQLite and PostgreSQL, and upgrade it beside an earlier commit, and check every acknowledged record (ROUNDS=20 for less)
	@go run ./scripts/kill -binary bin/atelier -rounds $(ROUNDS)
	@go run ./scripts/kill -binary bin/atelier -rounds $(ROUNDS) -postgres
	@go run ./scripts/kill -upgrade

.PHONY: check
check: gen lint test ## Generate, lint, test; fails if a generated file has changed
	git diff --exit-code

.PHONY: lint
lint: studio ## Run the linters
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l | tee /dev/stderr)" || { echo "gofmt would change these files" >&2; exit 1; }
	go mod tidy -diff
	go run $(GOLANGCI) run $(PACKAGES)
ifneq ($(NODE),)
	npm run --silent lint
	npm run --silent format:check
	npm run --silent typecheck
endif

.PHONY: tenants
tenants: ## Request every route for another workspace's data; prints routes × methods and leaks
	go test -count=1 -v -run 'TestWorkspacesAreKeptApart|TestWhatIsListedIsForAll' ./server/servertest | grep -aE 'routes ×|^(---|ok|FAIL)|tells|about another'

.PHONY: attack
attack: ## Attack the server and print what was refused or bounded (ITEMS=5,7 for some, SHORT=1, HOSTILE=1 for programs, AT=COMMIT for an older build)
	@AT=$(AT) ITEMS=$(ITEMS) SHORT=$(SHORT) HOSTILE=$(HOSTILE) scripts/attack.sh

.PHONY: arm64
arm64: ## Run the sandbox's tests and atelier doctor for arm64 in an emulated machine
	@scripts/arm64.sh doctor

.PHONY: audit
audit: ## Look up known vulnerabilities of the dependencies, where the lists can be reached
	@scripts/audit.sh

.PHONY: gen
gen: bin ## Regenerate the generated files
	bin/atelier openapi >docs/openapi.json
	python3 clients/python/generate.py
ifneq ($(NODE),)
	@$(MAKE) node_modules/.package-lock.json
	npm run --silent gen
endif

.PHONY: dev
dev: bin node_modules/.package-lock.json ## Serve, with hot reload of the Studio
	@scripts/dev.sh $(LISTEN)

.PHONY: photographs
photographs: build ## Photograph every screen in both themes, for review, into ATELIER_PHOTOGRAPHS
	@ATELIER_TEST_CHROMIUM="$$(scripts/chromium.sh shell)" npx --no-install vitest run --config web/e2e/photographs.config.ts

.PHONY: screenshots
screenshots: build ## Take screenshots of the Studio, dark and light, for the README
	@ATELIER_TEST_CHROMIUM="$$(scripts/chromium.sh)" npx --no-install vitest run --config web/e2e/screenshots.config.ts

.PHONY: clean
clean: ## Remove build results
	rm -rf bin web/dist/app node_modules

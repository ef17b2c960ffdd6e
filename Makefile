# `make` lists the targets that have a help text after ##.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Packages with golden files. Their TestGolden… tests write the files.
GOLDEN_PACKAGES ?= ./internal/board ./internal/rest ./internal/transfer ./internal/mcp
# The OpenAPI documents that lint-openapi checks.
OPENAPI ?= internal/rest/testdata/openapi.json internal/rest/testdata/openapi-app.json
# Additional arguments for the programs that `make run`, `make bench`,
# `make bench-web` and `make torture` start.
ARGS ?=
# The packages and flags of `make test-go`, such as TESTFLAGS="-run MoveCard".
# The slowest packages come first, so that short ones fill the remaining time.
PACKAGES ?= ./internal/app ./cmd/... ./internal/transfer ./internal/hook ./internal/job ./internal/account ./internal/dbtool \
	./internal/automate ./internal/store ./...
TESTFLAGS ?=
# The packages of `make test-race`: those that start goroutines.
RACE_PACKAGES ?= ./internal/sqldb ./internal/op ./internal/hook ./internal/live ./internal/job ./internal/session \
	./internal/spool ./internal/automate
# Packages that are built without the race detector, because checking them took
# most of the time: SQLite translated from C, whose memory is not managed by Go
# and is never checked anyway; password hashing, which shares no memory; and the
# schema validation of responses in tests. The detector still sees their locks
# and channels, and checks all other packages.
UNRACED := modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory \
	golang.org/x/crypto/argon2 github.com/santhosh-tekuri/jsonschema/v6/...
RACE := -race $(UNRACED:%=-gcflags=%=-race=false)
FUZZTIME ?= 30s

# All targets build in the same way, so that they share compiled packages. Without
# cgo, the binary is static and uses Go's own resolver, which rejects unusual
# notations of IP addresses. Without paths of the machine, copies of the project
# share the packages too.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: web ## build bin/cardwall with the web app
	go build -o bin/cardwall ./cmd/cardwall

# The pages are rebuilt only if a source file has changed.
.PHONY: web
web: web/dist/index.html ## build the pages

WEB_SOURCES := $(shell git ls-files --cached --others --exclude-standard web 2>/dev/null | grep -v '^web/e2e/')

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	cd web && npm run --silent build
	@touch $@

web/node_modules/.installed: web/package.json web/package-lock.json web/.npmrc
	@tools/need npm
	cd web && npm ci --loglevel=error
	@touch $@

.PHONY: run
run: build ## build and serve http://127.0.0.1:8080 with demo data in ./data
	bin/cardwall serve --demo $(ARGS)

# All packages share one PostgreSQL cluster. Many tests wait for a disk or a server,
# so three packages run four tests each at the same time. `make check` runs vet.
# Some tests need other tools: iproute2 creates networks for the address guard of
# webhooks, an npm library verifies signatures, docs/webhooks.md uses curl, jq and
# openssl, systemd-analyze checks the unit files, files are stored in a real S3
# server, and the official conformance suite and popular clients call /mcp.
GOTEST := go run ./tools/gotest
GOTEST_FLAGS := -count=1 -vet=off -p 3 -parallel 4
# The tests that test-go leaves out.
SKIP ?= ^TestSystem
.PHONY: test-go
test-go: tools/node_modules/.installed tools/mcp/node_modules/.installed tools/bin/versitygw clients/typescript/dist/index.js ## run the Go tests on SQLite and PostgreSQL
	@tools/need go postgresql pgbouncer iproute2 curl jq openssl strace systemd promtool python3
	tools/with-postgres $(GOTEST) $(GOTEST_FLAGS) -timeout 30m -skip '$(SKIP)' $(TESTFLAGS) $(PACKAGES)

# The race detector needs cgo and gcc. The golden files contain what one goroutine
# writes. A test of both databases runs only on SQLite, because the code of either
# database starts no goroutines outside of sqldb, whose tests of PostgreSQL are separate.
.PHONY: test-race
test-race: tools/bin/versitygw ## run the Go tests of packages with goroutines, with the race detector
	@tools/need go gcc postgresql pgbouncer iproute2 curl jq openssl strace systemd promtool
	CGO_ENABLED=1 tools/with-postgres $(GOTEST) $(RACE) $(GOTEST_FLAGS) -timeout 60m -skip '^Test(System|Golden)|./postgres|././postgres' $(TESTFLAGS) $(RACE_PACKAGES)

# These tests kill and restart real servers, and run for long or in large files.
.PHONY: test-system
test-system: ## run the long tests of the whole program: kills, restarts, large files
	@tools/need go gcc postgresql curl strace
	tools/with-postgres $(GOTEST) $(GOTEST_FLAGS) -timeout 60m -run '^TestSystem' $(TESTFLAGS) ./cmd/cardwall ./internal/transfer

# An S3 server that stores its objects in a folder. Building it takes some minutes.
tools/bin/versitygw:
	@tools/need go
	GOBIN=$(CURDIR)/tools/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

# If one target fails, the others still run. The last line counts all tests.
.PHONY: test
test: ## run the tests that every change must pass: Go, web app, clients, integrations and browser
	@tools/tally $(MAKE) --no-print-directory --keep-going test-go test-web test-clients test-integrations test-browser

# N is the number of runs, LOAD that of busy loops beside them.
N ?= 3
LOAD ?= 2
.PHONY: soak
soak: ## run `make test` N=3 times beside LOAD=2 busy loops, and list tests that failed or are flaky
	@tools/soak $(N) $(LOAD) $(MAKE) --no-print-directory test

.PHONY: test-all
test-all: ## run all tests, including those of the whole program, and the race detector for all packages
	@tools/tally $(MAKE) --no-print-directory --keep-going RACE_PACKAGES=./... test-go test-race test-system test-web test-clients test-integrations test-browser

# `make quick` excludes perf, and cmd/cardwall, whose tests run the whole program.
.PHONY: quick
quick: web/node_modules/.installed ## vet, and run the tests that need no PostgreSQL, race detector or browser (three minutes)
	go vet ./...
	go test -short -vet=off ./internal/... ./tools/...
	cd web && npm run --silent test

.PHONY: test-web
test-web: web/node_modules/.installed ## run the unit tests of the web app
	cd web && npm run --silent test

# The build generates the types of the API, and compiles the library, its tests and its examples,
# which `make test-go` runs.
TYPESCRIPT_SOURCES := $(filter-out %/schema.ts,$(wildcard $(addprefix clients/typescript/,*.json *.mjs src/*.ts test/*.ts examples/*.ts)))

clients/typescript/dist/index.js: clients/typescript/node_modules/.installed internal/rest/testdata/openapi.json $(TYPESCRIPT_SOURCES)
	cd clients/typescript && npm run --silent build
	@touch $@

.PHONY: test-clients
test-clients: test-typescript test-python test-go-client ## run the tests of the clients in clients/

.PHONY: test-typescript
test-typescript: clients/typescript/dist/index.js ## run the unit tests of the TypeScript client
	cd clients/typescript && npm run --silent test

# Some tests call the built server. The types are checked if mypy is installed.
.PHONY: test-python
test-python: build ## run the tests of the Python client
	@tools/need python3
	@if command -v mypy >/dev/null; then cd clients/python && mypy; fi
	cd clients/python && PYTHONPATH=src CARDWALL_BIN=$(CURDIR)/bin/cardwall python3 -m tests

# clients/go is a module of its own.
.PHONY: test-go-client
test-go-client: build ## run the tests of the Go client
	go build -o bin/gotest ./tools/gotest
	cd clients/go && CARDWALL_BIN=$(CURDIR)/bin/cardwall $(CURDIR)/bin/gotest -count=1 ./...

# The tests call the built server.
.PHONY: test-integrations
test-integrations: build integrations/zapier/node_modules/.installed integrations/n8n/dist/.built ## run the tests of the apps in integrations/
	cd integrations/zapier && CARDWALL_BIN=$(CURDIR)/bin/cardwall npm run --silent test
	cd integrations/n8n && CARDWALL_BIN=$(CURDIR)/bin/cardwall npm run --silent test

N8N_SOURCES := $(filter-out integrations/n8n/test/%,$(shell git ls-files --cached --others --exclude-standard integrations/n8n 2>/dev/null))

integrations/n8n/dist/.built: integrations/n8n/node_modules/.installed $(N8N_SOURCES)
	cd integrations/n8n && npm run --silent build
	@touch $@

# `make test` runs the n8n nodes without n8n, whose installation has 3 GB and takes five minutes.
.PHONY: test-n8n
test-n8n: build integrations/n8n/dist/.built tools/n8n/node_modules/.installed ## run the n8n nodes in a real n8n
	@tools/need postgresql
	cd integrations/n8n && export PATH=$$(dirname $(CURDIR)/tools/n8n/node_modules/node-*/bin/node):$$PATH && \
		N8N_DIR=$(CURDIR)/tools/n8n CARDWALL_BIN=$(CURDIR)/bin/cardwall ../../tools/with-postgres npm run --silent test:n8n

tools/n8n/node_modules/.installed: tools/n8n/package.json tools/n8n/.npmrc
	@tools/need npm
	cd tools/n8n && npm install --loglevel=error
	@touch $@

# The tests use the browser /usr/bin/chromium-headless-shell, which runs them in
# half the time of the full Chromium, or the one whose path is in CHROMIUM.
.PHONY: test-browser
test-browser: build tools/mcp/node_modules/.installed ## run the browser tests against the built server
	@tools/need chromium-headless-shell curl
	cd web && npm run --silent e2e

# Each request goes to one of three servers. Every ten seconds, one of them is
# killed and started again.
.PHONY: test-nodes
test-nodes: build tools/mcp/node_modules/.installed ## run the browser tests against three servers on PostgreSQL that are killed in turn
	@tools/need chromium-headless-shell curl postgresql
	cd web && CARDWALL_NODES=3 ../tools/with-postgres npm run --silent e2e

# The screenshots go to a new folder, and those of the documentation to docs/.
.PHONY: pictures
pictures: build ## take screenshots of all screens, and update those in docs/
	@tools/need chromium-headless-shell
	cd web && node scripts/pictures.mjs --docs

.PHONY: check
check: check-format check-tidy check-vet check-staticcheck check-architecture check-golden lint-openapi check-compatible check-generators check-web check-clients check-integrations ## run all checks of CI except the tests
	@echo "check: all is well."

.PHONY: check-format
check-format:
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard --deduplicate '*.go' | xargs -0 -r ls -d 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "Not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

.PHONY: check-tidy
check-tidy:
	go mod tidy -diff

.PHONY: check-vet
check-vet:
	go vet ./...
	go vet -tags conformance ./cmd/cardwall
	go vet -tags torture ./cmd/cardwall ./internal/sqldb
	go vet -C clients/go ./...

.PHONY: check-staticcheck
check-staticcheck:
	go tool staticcheck ./...

.PHONY: check-architecture
check-architecture:
	go test -count=1 -vet=off ./internal

# The tests that write the golden files only compare them here.
.PHONY: check-golden
check-golden:
	$(GOTEST) $(GOTEST_FLAGS) -run '^TestGolden' ./internal ./internal/app $(GOLDEN_PACKAGES) ./tools/clientgen

# internal/app comes first, because the documents contain its examples. The clients
# come last, because they are generated from a document.
.PHONY: golden
golden: ## rewrite the golden files; review the diff as an interface change
	UPDATE_GOLDEN=1 $(GOTEST) $(GOTEST_FLAGS) -run '^TestGolden' ./internal/app
	UPDATE_GOLDEN=1 $(GOTEST) $(GOTEST_FLAGS) -run '^TestGolden' ./internal $(GOLDEN_PACKAGES)
	UPDATE_GOLDEN=1 $(GOTEST) $(GOTEST_FLAGS) -run '^TestGolden' ./tools/clientgen

# Turn off usage reports and update checks.
.PHONY: lint-openapi
lint-openapi: tools/node_modules/.installed tools/generators/node_modules/.installed ## lint the OpenAPI documents; warnings are errors
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
		tools/node_modules/.bin/redocly lint --config tools/redocly.yaml $(OPENAPI)
	tools/generators/node_modules/.bin/spectral lint --fail-severity hint --ruleset tools/generators/spectral.yaml $(OPENAPI)

# The document is the served one, with another version.
.PHONY: check-generators
check-generators: tools/generators/node_modules/.installed ## generate clients with five generators, and compile them
	@tools/need go
	tools/generators/check internal/rest/testdata/openapi.json

# Programs for v0.2.0 work with every later version of the API. tools/oasdiff-ignore.txt lists
# differences in the documents that change no response. The fields of all events are a schema of their
# own, which each event includes with allOf.
.PHONY: check-compatible
check-compatible: tools/bin/oasdiff ## compare the OpenAPI document with that of v0.2.0
	gunzip -c internal/rest/testdata/openapi-v0.2.0.json.gz | \
		tools/bin/oasdiff breaking --flatten-allof --fail-on ERR --err-ignore tools/oasdiff-ignore.txt - internal/rest/testdata/openapi.json

tools/bin/oasdiff:
	@tools/need go
	GOBIN=$(CURDIR)/tools/bin go install github.com/oasdiff/oasdiff@v1.37.0

.PHONY: check-web
check-web: web/node_modules/.installed
	cd web && npm run --silent check

.PHONY: check-clients
check-clients: clients/typescript/node_modules/.installed
	cd clients/typescript && npm run --silent check

.PHONY: check-integrations
check-integrations: integrations/zapier/node_modules/.installed integrations/n8n/node_modules/.installed
	cd integrations/zapier && npm run --silent check
	cd integrations/n8n && npm run --silent check

.PHONY: bench
bench: build ## measure the performance goals and the limits of the machine
	go run ./perf/bench $(ARGS)

.PHONY: bench-web
bench-web: build ## measure the performance of the web app in Chromium
	@tools/need chromium
	node perf/bench/web/main.mjs $(ARGS)

# The trials need root and Linux, because they mount filesystems, create network
# namespaces and trace processes. The program built with the tag torture has an
# adjustable clock, and its durability can be turned off.
.PHONY: torture
torture: build tools/bin/versitygw ## break disks, networks and processes under load and count lost writes; ARGS=-quick is shorter
	@tools/need go sqlite3 xfsprogs strace iproute2 postgresql patroni etcd
	go build -tags torture -o bin/cardwall-torture ./cmd/cardwall
	go build -o bin/torture ./perf/torture
	bin/torture $(ARGS)

# The version is in cmd/cardwall/VERSION, and the changes are in CHANGELOG.md.
.PHONY: release
release: web ## build release archives with checksums and an SBOM in release/
	@tools/need go npm
	tools/release

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (default 30s)
	tools/fuzz $(FUZZTIME)

.PHONY: tools
tools: tools/node_modules/.installed tools/mcp/node_modules/.installed tools/generators/node_modules/.installed ## install the tools for building, checking and testing
	@tools/need git go gcc postgresql pgbouncer iproute2 curl jq openssl strace systemd promtool
	go mod download
	go tool staticcheck -version

# Installed again only if the required packages have changed. tools/mcp includes
# the Node.js that the MCP suite and clients need, which may be newer than the
# machine's.
tools/node_modules/.installed tools/mcp/node_modules/.installed tools/generators/node_modules/.installed clients/typescript/node_modules/.installed integrations/zapier/node_modules/.installed integrations/n8n/node_modules/.installed: %/node_modules/.installed: %/package.json %/package-lock.json %/.npmrc
	@tools/need npm
	cd $* && npm ci --loglevel=error
	@touch $@

.PHONY: clean
clean: ## remove built and installed files, but not release/ or ./data
	rm -rf bin tools/node_modules tools/mcp/node_modules tools/generators/node_modules tools/generators/dist web/node_modules web/dist/assets web/dist/*.* \
		integrations/zapier/node_modules integrations/n8n/node_modules integrations/n8n/dist tools/n8n/node_modules clients/typescript/node_modules clients/typescript/dist clients/typescript/build clients/typescript/src/schema.ts \
		clients/typescript/LICENSE clients/typescript/NOTICE

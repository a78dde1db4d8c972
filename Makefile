.PHONY: help fmt lint test server-test fuzz bench vulnerabilities licences api

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

fmt: ## format every file
	gofmt -w .

lint: ## go vet and staticcheck
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

test: ## the tests, which need Go alone
	go test ./...

server-test: ## the same tests, also on a real server; it stays up until .ci/server stop
	uri=$$(.ci/server start) && MONGODB_URI=$$uri go test -count=1 ./...

fuzz: ## each fuzz target for FUZZTIME (30s)
	@go list -f '{{.Dir}}' ./... | while read -r dir; do \
		grep -hos '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | sed 's/^func //' | while read -r name; do \
			echo "$$name in $$dir"; go test -run '^$$' -fuzz "^$$name$$" -fuzztime $${FUZZTIME:-30s} "$$dir" || exit 1; \
		done || exit 1; \
	done

bench: ## every benchmark, and the tables beside other libraries (internal/bench/RESULTS.md)
	go test -run '^$$' -bench . -benchmem ./...
	cd internal/bench && go run .

vulnerabilities: ## known vulnerabilities of what the library calls
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

licences: ## compare docs/THIRD_PARTY.md with the modules; UPDATE=-update writes it
	cd internal/ci/licences && go run . $(UPDATE)

api: ## compare the exported API with the last tag
	.ci/api

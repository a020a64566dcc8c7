# Every check is a step of .ci/run, so that what runs here and what runs elsewhere cannot differ.

SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c

STEPS = format vet tidy lint test coverage mutants race platforms fuzz examples

.PHONY: check torture bench benchcmp vuln clean $(STEPS)

# All checks. Single ones: make test, make fuzz FUZZTIME=60 FUZZLONG=600 ...
check:
	./.ci/run

$(STEPS):
	./.ci/run $@

# The tests that take samples, with as many as they are worth: hours. TORTURE=3 takes three times as many.
TORTURE = 1
torture:
	MILLRACE_TORTURE=$(TORTURE) go test -count=1 -timeout 24h -v -run 'Crash|Faults|Foreign|Kill|Power|Writer|Hostile|Count|Property|Random|Model' ./... | grep -v '^=== '

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Side by side with ripgrep and sed, see docs/performance.md. RG is ripgrep 15; BENCHCMP has more flags, such as -only search.
RG = rg
benchcmp:
	go run ./internal/benchcmp -rg '$(RG)' -markdown $(BENCHCMP)

# Asks the vulnerability database, which is on the network.
vuln:
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

clean:
	rm -rf bin cover.out

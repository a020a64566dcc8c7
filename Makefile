# Every check is a step of .ci/run, so that what runs here and what runs elsewhere cannot differ.

STEPS = format vet tidy lint test race platforms fuzz examples

.PHONY: check bench vuln clean $(STEPS)

# All checks. Single ones: make test, make fuzz FUZZTIME=60s FUZZTOTAL=3600 ...
check:
	./.ci/run

$(STEPS):
	./.ci/run $@

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Asks the vulnerability database, which is on the network.
vuln:
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

clean:
	rm -rf bin cover.out

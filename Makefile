# Every check is a step of .ci/run, so that the checks here and elsewhere are the same.

SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c

STEPS = format vet tidy lint test coverage mutants race platforms fuzz torture e2e screens clients install

.PHONY: check bench benchcmp vuln release clean $(STEPS)

# All checks. A single check: make test, make race ... Not part of make check are the random searches (make fuzz FUZZTIME=60
# FUZZLONG=600, make torture TORTURE=3 with three times as many samples), make e2e, which builds a Temporal server for 15
# minutes, make screens, which needs a browser, and make install, which tests the installation of a release.
check:
	./.ci/run

$(STEPS):
	./.ci/run $@

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Side by side with ripgrep and sed, see docs/performance.md. RG is ripgrep 15; BENCHCMP has more flags, such as -only search.
RG = rg
benchcmp:
	go -C benchcmp build -o ../bin/benchcmp .
	go -C cmd/millrace build -o ../../bin/millrace .
	bin/benchcmp -rg '$(RG)' -millrace bin/millrace -markdown $(BENCHCMP)

# Asks the vulnerability database on the network.
vuln:
	sed 's/#.*//; s/[[:space:]]*$$//; /^$$/d' allmodules | while read -r dir; do \
		echo "$$dir"; (cd "$$dir" && go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...) </dev/null || exit 1; \
	done

# make release VERSION=vX.Y.Z makes the commit and the tags of a version in a clone, checks them, and fetches the tags from
# there. It pushes nothing, and changes neither the branch nor the files.
release:
	./.ci/release $(VERSION)

clean:
	rm -rf bin cover.out

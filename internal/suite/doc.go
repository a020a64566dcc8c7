// Package suite is a test-only package: it holds helpers that the black-box suites below it share, such as small trees,
// pipelines, and the file systems on which everything has to run. Each suite is a directory with a comment on its
// tests:
//
//   - agents: pipelines that ask agents of the host
//   - bench: benchmarks, and how many allocations runs make
//   - bounded: the budget and the deadline of a run
//   - commands: pipelines that run commands
//   - decode: which pipelines in JSON are accepted or refused, strictly and leniently, and with which messages
//   - docs: the pages of docs/ and the README agree with the code
//   - drawn: generators of random pipelines, which other suites share
//   - foreign: files that another program writes while a run works
//   - library: pipelines found by name, included in others, and refused in a step
//   - limits: oversized input, and how costs grow
//   - nowhere: secrets and texts that must not leak
//   - patches: the action patch, compared with git apply and patch
//   - plans: a plan that is stored, judged, approved and committed elsewhere
//   - policy: the permissions of a host, and the protected files of a tree
//   - recovery: a commit that fails, is killed or loses its file system; locks and inspection
//   - restore: backups, undo, and how many backups are kept
//   - resume: runs that are stored and resumed
//   - revise: hunks, parts of a plan, and texts of a reviewer in it
//   - runcommands: the JSON commands over runs
//   - runs: results, events, reports and errors of a run
//   - sandboxed: attacks on the sandbox of commands
//   - scenarios: the pipelines of testdata/run, and random pipelines, on every file system
//   - searchways: every kind of search finds the same
//   - semantics: the attributes of a file that a save keeps, the table in docs/safety.md
//   - steering: jumps, ways back, attempts, timeouts
//   - templates: the values of references and variables; templates of other languages stay text
//   - told: all other reports of a run: summaries, envelopes, the first and the last event, contexts, audits
//   - tools: steps that call functions of the host
//   - whole: properties of plans that hold for every change
package suite

// Package suite is a test-only package: it holds what the black-box suites below it share, such as small trees,
// pipelines and the file systems that everything has to run on. Each suite is a directory with a comment on its tests:
//
//   - bench: benchmarks, and how many allocations runs make
//   - decode: what is taken and refused of a pipeline as JSON, strictly and leniently, and with which messages
//   - docs: the pages of docs/ and the README say what the code does
//   - library: pipelines found by name, included in others, and refused in a step
//   - limits: what is too large or too much, and what costs grow with
//   - plans: a plan that is stored, judged, approved and committed elsewhere
//   - policy: what a host allows, and what a tree protects
//   - recovery: a commit that fails, is killed or loses its file system; locks and inspection
//   - restore: backups, taking back, and how many of them are kept
//   - revise: hunks, parts of a plan, texts of one's own in it
//   - runs: results, events, reports and errors of a run
//   - scenarios: the pipelines of testdata/run, and random ones, on every file system
//   - searchways: a search finds the same in every way there is to search
//   - semantics: what an edit keeps of a file, the table in docs/safety.md
//   - templates: what references of steps stand for, variables, and that templates of other languages stay text
//   - told: reports of a run beside its result: summaries, envelopes, the first and the last event, contexts, audits
//   - tools: steps that call functions of the host: when, how often, within which bounds, and what is kept of it
package suite

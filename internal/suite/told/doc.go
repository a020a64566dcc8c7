// Package told is a test-only package: it holds the tests of all reports of a run except its Result: summaries,
// envelopes, reports of loops, the first and the last event, contexts of steps, audits.
package told

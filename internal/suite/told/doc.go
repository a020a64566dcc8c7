// Package told is a test-only package: it holds the tests of reports of a run beside its Result: summaries, envelopes,
// reports of loops, the first and the last event, contexts of steps, audits.
package told

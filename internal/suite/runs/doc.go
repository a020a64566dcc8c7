// Package runs is a test-only package: it holds the reports of a run: its result, events, reports, warnings and errors.
package runs

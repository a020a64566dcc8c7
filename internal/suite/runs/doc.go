// Package runs is a test-only package: it checks the reports of a run: its result, events, reports, warnings and
// errors.
package runs

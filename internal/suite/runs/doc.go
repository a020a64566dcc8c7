// Package runs is a test-only package: it holds what a run tells: its result, events, reports, warnings and errors.
package runs

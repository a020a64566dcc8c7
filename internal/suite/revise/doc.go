// Package revise is a test-only package: it holds the hunks of a plan, and what becomes of it when some are left out
// or reworded.
package revise

// Package revise is a test-only package: it checks the hunks of a plan, and the plan after some of them are rejected or
// reworded.
package revise

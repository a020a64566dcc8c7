// Package foreign is a test-only package: it holds what becomes of the files that another program writes while a run
// computes its changes.
package foreign

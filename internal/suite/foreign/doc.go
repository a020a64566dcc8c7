// Package foreign is a test-only package: it checks what happens to the files that another program writes while a run
// computes its changes.
package foreign

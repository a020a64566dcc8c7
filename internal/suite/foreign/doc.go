// Package foreign is a test-only package: it holds what becomes of the files that another program writes while a run
// works out its changes.
package foreign

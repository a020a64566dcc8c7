// Package scenarios is a test-only package: it runs the pipelines in testdata/run of the repository, and random ones,
// on every file system there is.
package scenarios

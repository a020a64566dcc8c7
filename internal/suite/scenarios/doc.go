// Package scenarios is a test-only package: it runs the pipelines in testdata/run of the repository, and random
// pipelines, on every file system.
package scenarios

// Package bench is a test-only package: it holds the benchmarks of whole runs, and how many allocations runs make.
package bench

// Package restore is a test-only package: it holds how commits are taken back, and how many backups and results are
// kept.
package restore

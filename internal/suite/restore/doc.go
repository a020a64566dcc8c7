// Package restore is a test-only package: it checks how commits are undone, and how many backups and results are kept.
package restore

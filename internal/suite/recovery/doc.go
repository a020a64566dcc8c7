// Package recovery is a test-only package: it checks a commit that fails, is killed or loses its file system, and the
// reports of Inspect and Recover.
package recovery

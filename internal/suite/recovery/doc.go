// Package recovery is a test-only package: it holds what becomes of a commit that fails, is killed or loses its file
// system, and what Inspect and Recover see of it.
package recovery

// Package semantics is a test-only package: it measures what an edit, a rename, a copy and a delete keep of a file, for
// the table in docs/safety.md.
package semantics

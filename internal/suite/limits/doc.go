// Package limits is a test-only package: it holds what becomes of what is too large or too much, and what costs grow
// with.
package limits

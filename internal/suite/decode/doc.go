// Package decode is a test-only package: it holds what is taken and refused of a pipeline as JSON, strictly and
// leniently, and with which messages.
package decode

// Package decode is a test-only package: it checks which JSON texts of pipelines are accepted and refused, strictly and
// leniently, and with which messages.
package decode

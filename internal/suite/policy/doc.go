// Package policy is a test-only package: it holds what a host allows, and what is protected from every run.
package policy

// Package policy is a test-only package: it checks the permissions of a host, and the files that are protected from
// every run.
package policy

// Package limits is a test-only package: it checks that oversized input meets a limit, and how costs grow.
package limits

// Package patches is a test-only package: it compares the action patch with git apply and patch, over random texts and
// trees, and tests it with untrusted input.
package patches

// Package patches is a test-only package: it holds the action patch against git apply and patch, over random texts and
// trees, and against what strangers may write.
package patches

// Package commands holds the tests of pipelines that run commands: real tools on real trees, what comes back of their
// work, what does not, and what a host can forbid.
package commands

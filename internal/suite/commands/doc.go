// Package commands holds the tests of pipelines that run commands: real tools on real trees, which of their changes are
// staged, which are not, and what a host can forbid.
package commands

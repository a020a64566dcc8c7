// Package sandboxed holds the tests that attack the sandbox of commands from inside, through whole pipelines: a step
// can change the tree that it received, and nothing else.
package sandboxed

// Package sandboxed holds the tests that attack the sandbox of commands from inside, through whole pipelines: what a
// step can do to the tree that it was given, and cannot do to anything else.
package sandboxed

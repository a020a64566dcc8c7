// Package millracetest helps to test pipelines, actions and file systems, as net/http/httptest helps to test handlers.
//
// A test makes a tree in memory from a text with [Tree], runs a pipeline on it, and compares the tree with a text by
// [Equal]. The text is an archive in the format of Go's txtar: a line "-- name --" starts each file. Words after the
// name describe files that are not plain lines of text:
//
//	-- main.go --                    a file, mode 0644
//	package main
//	-- run.sh mode=755 --            a file with another mode
//	-- logo.png base64 --            bytes, as base64
//	iVBORw0KGgo=
//	-- dos.txt\r --                  each line end is CR LF
//	-- end.txt\n --                  the final newline is left out
//	-- current -> main.go --         a symbolic link
//	-- empty/ --                     a directory
//
// # One file for each test
//
// [Golden] runs a test for each archive of a directory. An archive has the pipeline, the tree before the run, and all
// wanted results: the tree after the run, the error with its code, warnings, the report, the diff, the events. The flag
// -update of the test writes the wanted results.
//
// # Doubles
//
// [Agent] replaces a model, [Command] replaces programs, and [Clock] makes waits take no time. A question, a command or
// a wait that the test does not expect fails the test. So does an expected question, command or wait that does not
// come.
//
// # Contracts
//
// [Action] checks that an action of your own follows the rules of actions. [Faults] runs a pipeline with a failure of
// each operation of the file system, and with a crash before each. [Backend] finds out what runs can do on a file
// system of your own.
//
// The functions fail or stop the test that they are given. They keep nothing between tests and are safe in parallel
// tests, each with its own [testing.TB]. [Clock] is the exception: a test in it must not be parallel.
package millracetest

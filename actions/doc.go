// Package actions has the actions of the steps of a pipeline.
//
// An action is a struct: its exported fields are its parameters, in Go and, by their json tags, in JSON.
//
// # The built-in actions
//
// Four of [Builtin] find and read: [Search], [List], [CountOccurrences] and [ReadRanges]. Three replace text in all
// their files: [Edit], [MultiEdit] and [RegexTransform]. [EditFiles] has edits for each file, of lines and of text,
// and [Create] makes files. Three change names: [Copy], [Rename] and [Delete]. Three work on the results of earlier
// steps: [Aggregate], [Diff] and [Merge]. [Fail] ends a run, [Tool] calls a function of the host's program, and
// [Exec] runs a command on the tree.
//
// # Files
//
// Actions that need files take those of Call.Files, wherever they come from. Each has to be there and to be a regular
// file, or a link to one: otherwise the step fails with a [*FileError] that names it, and what the step has staged
// until then is taken back by the executor. Several files are worked on at the same time, but no outcome depends on the
// order in which they finish. All paths in outcomes are canonical: relative to the root, with slashes.
//
// # Patterns
//
// A pattern is a literal text or a regular expression of Go's RE2 syntax. The parameter "mode" selects the kind; only
// a search guesses it by default. Regular expressions are case-sensitive and match over the whole file, in which ^
// and $ are the ends of lines. Bytes outside of the matches do not change.
//
// A text that was not found is not a failure. The step warns, with the nearest lines and the reasons why they do not
// match: tabs, spaces at the end of a line, upper and lower case, a no-break space, a line end written as \n. Expect
// on the step makes it a failure.
//
// # Your own actions
//
// An action is a struct with the methods Spec and Run, and equal to the built-in ones once it is in a [Registry]; see
// the example. It may also implement [Validator], so that mistakes are found before anything runs, and [Toucher], so
// that its steps can run beside others. Run reads and writes through Call.FS alone: that is the stage, so a dry run,
// the savepoints, the preview, the limits and the commit all come without further doing.
package actions

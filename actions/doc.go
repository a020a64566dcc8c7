// Package actions contains the actions of the steps of a pipeline.
//
// An action is a struct: its exported fields are its parameters, in Go and, by their json tags, in JSON.
//
// # The built-in actions
//
// The actions of [Builtin], by their work:
//
//   - Find and read: [Search], [List], [CountOccurrences], [ReadRanges] and [Diff].
//   - Replace text in all their files: [Edit], [MultiEdit] and [RegexTransform]. [PatternReplace] runs a sed script
//     over the files of a directory.
//   - Edit each file in its own way: [EditFiles] and [Patch].
//   - Create, copy, move and delete files: [Create], [SyncFiles], [Copy], [Rename] and [Delete].
//   - Combine the results of earlier steps: [Aggregate] and [Merge].
//   - Call other programs: [Exec] runs a command on the tree, [Prompt] asks an agent, and [Tool] calls a function of
//     the host's program.
//   - [Fail] fails its step.
//
// # Files
//
// Actions that need files use Call.Files. Each must exist and be a regular file, or a link to a regular file. Otherwise
// the step fails with a [*FileError] that names the file, and the executor discards the changes that the step has
// staged. Several files are worked on at the same time, but no outcome depends on the order in which they finish. All
// paths in outcomes are canonical: relative to the root, with slashes.
//
// # Patterns
//
// A pattern is a literal text or a regular expression of Go's RE2 syntax. The parameter "mode" selects the kind; only a
// search guesses it by default. Regular expressions are case-sensitive and match over the whole file; ^ and $ are the
// ends of lines. Bytes outside of the matches do not change.
//
// A text that was not found is not a failure. The step warns, with the nearest lines and the reasons why they do not
// match: tabs, spaces at the end of a line, upper and lower case, a no-break space, a line end written as \n. Expect on
// the step makes it a failure.
//
// # Your own actions
//
// An action is a struct with the methods Spec and Run. In a [Registry] it is equal to the built-in actions; see the
// example. It may also implement [Validator], to find mistakes before anything runs, and [Toucher], so that its steps
// can run in parallel with others. Run must read and write only through Call.FS, which is the stage. Then dry runs,
// savepoints, the preview, the limits and the commit work without further code.
package actions

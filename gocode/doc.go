// Package gocode has actions for trees of Go code, based on the tools of Go.
//
// [Actions] returns them for a registry:
//
//	decoder := millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
//
// go_format and go_imports need only the stage: no command, no sandbox, no disk. go_fix and go_rewrite use types. For
// that they run the command "go list" in a copy of the tree to find the packages, and check the types in this process.
// The host has to allow that command like any other: Allow "go list *", with command.Toolchains. No code of the tree is
// run.
//
// The changes of these actions are staged like all others: they are shown, judged, committed and undone together.
// docs/gocode.md describes each action with its parameters.
package gocode

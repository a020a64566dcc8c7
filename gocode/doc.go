// Package gocode has actions for trees of Go code, by the tools of Go itself.
//
// [Actions] returns them for a registry:
//
//	decoder := millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
//
// go_format and go_imports need nothing but the stage: no command, no sandbox, no disk. go_fix and go_rewrite know
// types. For that they ask the command "go list" what packages there are, in a copy of the tree, and check the
// packages in this process. The host has to allow that command as any other: Allow "go list *", with
// command.Toolchains. Nothing of the tree is run.
//
// The changes of these actions are staged as all others: they are shown, judged, committed and undone as one.
// docs/gocode.md describes each with its parameters.
package gocode

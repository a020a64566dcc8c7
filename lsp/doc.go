// Package lsp writes a [millrace.Plan] as a WorkspaceEdit of the Language Server Protocol, version 3.17, so that an
// editor can show the change and make it in its own buffers, with its own undo.
//
//	edit, err := lsp.From(plan, lsp.Options{Root: "/home/ann/src"})
//	data, err := json.Marshal(edit)
//
// The changes can be applied in the order of the list. Deletes and renames come first; a circle of renames uses a
// temporary name. Then files are created. Last, texts are edited, at the names that the files have by then. An edit is
// one splice of the plan, so cursors and marks of the editor stay in place. Each step of the pipeline is one change
// annotation. The editor may ask the user to confirm it. It must ask if the risk is high or critical, or if the plan
// is blocked.
//
// # Limits of the protocol
//
// The protocol is about texts. It cannot express permission bits, symbolic links, empty directories, binary files,
// bytes that are not UTF-8, adding or removing a byte order mark, and names that are not UTF-8. [From] returns an
// [UnsupportedError] that lists these changes, or with Options.Partial leaves them out.
//
// The editor makes the change, not millrace: the change has no backup, is not one transaction, and is not checked
// against the tree that the plan was made from. The editor decides about line ends and the end of a file when it saves.
package lsp

// Package lsp writes a [millrace.Plan] as a WorkspaceEdit of the Language Server Protocol, version 3.17, so that an
// editor can show the change and make it: in its own buffers, with its own undo.
//
//	edit, err := lsp.From(plan, lsp.Options{Root: "/home/ann/src"})
//	data, err := json.Marshal(edit)
//
// The list of changes can be applied one after the other. Deletes and renames come first, a circle of renames by way of
// a name of its own; then files are created, and in the end texts are edited, at the names that the files have then. An
// edit is one splice of the plan, so cursors and marks of the editor stay where they are. Each step of the pipeline is
// one change annotation, which the editor may ask for before it goes on; from high risk on it must.
//
// # Limits of the protocol
//
// The protocol knows texts, and has no word for permission bits, symbolic links, empty directories, binary files, bytes
// that are no UTF-8, a byte order mark that comes or goes, and names that are no UTF-8. [From] returns an
// [UnsupportedError] that lists them, or with Options.Partial leaves them out.
//
// An editor makes the change, not millrace: it has no backup, is not one transaction, and is not compared with the
// tree that the plan was made from. The editor decides about line ends and the end of a file when it saves.
package lsp

// Package kinds has the kinds of parts of messages, which doors word in their own way.
package kinds

import "github.com/millrace-go/millrace/wording"

// The kinds of names. The comments give the words of the engine.
const (
	// Param is the name of a parameter: 'to'.
	Param wording.Kind = "param"
	// EditText is a text that an edit looks for, with its parameter: old_text "one".
	EditText wording.Kind = "edit_text"
	// FilePattern is a glob with its parameter: file_pattern "*.go".
	FilePattern wording.Kind = "file_pattern"
)

// The kinds of whole messages.
const (
	// NoFiles: input step 'find' matched no files.
	NoFiles wording.Kind = "no_files"
	// EmptyList: the list of files is empty.
	EmptyList wording.Kind = "empty_list"
	// NoneTaken: no file below src is taken by include and file_types. The value has the directories.
	NoneTaken wording.Kind = "none_taken"
	// Denied: the host has denied this path.
	Denied wording.Kind = "denied"
	// InStep: step 'find': . It stands before a message. The value has the id of the step.
	InStep wording.Kind = "in_step"
	// NoProgram: the host does not allow the command, for it is not in its PATH. The value has the command.
	NoProgram wording.Kind = "no_program"
)

// The kinds of advice.
const (
	// ReadUTF16: encoding auto reads UTF-16.
	ReadUTF16 wording.Kind = "read_utf16"
	// UTF16Refused: is UTF-16 text: use encoding auto.
	UTF16Refused wording.Kind = "utf16_refused"
	// TakeBinary: set binary to edit them.
	TakeBinary wording.Kind = "take_binary"
	// EditBinary: set binary: true to edit it.
	EditBinary wording.Kind = "edit_binary"
	// SetMode: set mode to say which is meant.
	SetMode wording.Kind = "set_mode"
	// SetLiteral: or set mode to "literal".
	SetLiteral wording.Kind = "set_literal"
	// UseDestination: or destination.
	UseDestination wording.Kind = "use_destination"
	// WriteTo: write it as 'to' for that, or with a slash at its end.
	WriteTo wording.Kind = "write_to"
	// GlobName: globs work in other parameters.
	GlobName wording.Kind = "glob_name"
	// SetRecursive: set recursive to delete it with all that is in it.
	SetRecursive wording.Kind = "set_recursive"
	// SetOverwrite: set overwrite to replace it.
	SetOverwrite wording.Kind = "set_overwrite"
	// SetPath: or set path.
	SetPath wording.Kind = "set_path"
	// SetStrip: set strip.
	SetStrip wording.Kind = "set_strip"
	// LessStrip: set strip to less.
	LessStrip wording.Kind = "less_strip"
	// NoStrip: so set strip to 0.
	NoStrip wording.Kind = "no_strip"
	// SetRecount: or apply it with recount if it is whole.
	SetRecount wording.Kind = "set_recount"
	// OtherForm: use edit_files for text that has such lines.
	OtherForm wording.Kind = "other_form"
	// OtherEdit: use edit or pattern_replace.
	OtherEdit wording.Kind = "other_edit"
	// Hint is advice that all doors word as the engine does.
	Hint wording.Kind = "hint"
	// Install: : install it on the host. It stands after NoProgram.
	Install wording.Kind = "install"
	// Raise: or have the host raise MaxFileBytes.
	Raise wording.Kind = "raise"
	// WholeFile: a step edit with mode regex sees the whole file, with \n for a line end.
	WholeFile wording.Kind = "whole_file"
	// LessText: leave it out, or use mode regex.
	LessText wording.Kind = "less_text"
	// Ceiling: The host allows no more than MEDIUM. The value has the level.
	Ceiling wording.Kind = "ceiling"
	// UseForce: . Use force=true to bypass.
	UseForce wording.Kind = "use_force"
	// FewerChanges: bring back less with writes.
	FewerChanges wording.Kind = "fewer_changes"
	// ResumeFrom: resume from 'find'. The value has the id of the step.
	ResumeFrom wording.Kind = "resume_from"
	// Refused: the sandbox has no network: the host sets Network. It follows the message of a command.
	Refused wording.Kind = "refused"
	// LeftAsItWas: a warning that a file was not edited. The value has the name of the file.
	LeftAsItWas wording.Kind = "left_as_it_was"
	// SmallerTree: use needs or exclude.
	SmallerTree wording.Kind = "smaller_tree"
)

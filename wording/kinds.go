package wording

// Kind is the kind of a part of a message. The comments give the words of the engine.
type Kind string

// The kinds of names.
const (
	// Param is the name of a parameter: 'to'.
	Param Kind = "param"
	// EditText is a text that an edit looks for, with its parameter: old_text "one".
	EditText Kind = "edit_text"
	// FilePattern is a glob with its parameter: file_pattern "*.go".
	FilePattern Kind = "file_pattern"
)

// The kinds of whole messages.
const (
	// NoFiles: input step 'find' matched no files.
	NoFiles Kind = "no_files"
	// EmptyList: the list of files is empty.
	EmptyList Kind = "empty_list"
	// NoneTaken: no file below src is taken by include and file_types. The value has the directories.
	NoneTaken Kind = "none_taken"
	// Denied: the host has denied this path.
	Denied Kind = "denied"
	// InStep: step 'find': . It stands before a message. The value has the id of the step.
	InStep Kind = "in_step"
	// NoProgram: the host does not allow the command, for it is not in its PATH. The value has the command.
	NoProgram Kind = "no_program"
)

// The kinds of advice.
const (
	// ReadUTF16: encoding auto reads UTF-16.
	ReadUTF16 Kind = "read_utf16"
	// UTF16Refused: is UTF-16 text: use encoding auto.
	UTF16Refused Kind = "utf16_refused"
	// TakeBinary: set binary to edit them.
	TakeBinary Kind = "take_binary"
	// EditBinary: set binary: true to edit it.
	EditBinary Kind = "edit_binary"
	// SetMode: set mode to say which is meant.
	SetMode Kind = "set_mode"
	// SetLiteral: or set mode to "literal".
	SetLiteral Kind = "set_literal"
	// UseDestination: or destination.
	UseDestination Kind = "use_destination"
	// WriteTo: write it as 'to' for that, or with a slash at its end.
	WriteTo Kind = "write_to"
	// GlobName: globs work in other parameters.
	GlobName Kind = "glob_name"
	// SetRecursive: set recursive to delete it with all that is in it.
	SetRecursive Kind = "set_recursive"
	// SetOverwrite: set overwrite to replace it.
	SetOverwrite Kind = "set_overwrite"
	// SetPath: or set path.
	SetPath Kind = "set_path"
	// SetStrip: set strip.
	SetStrip Kind = "set_strip"
	// LessStrip: set strip to less.
	LessStrip Kind = "less_strip"
	// NoStrip: so set strip to 0.
	NoStrip Kind = "no_strip"
	// SetRecount: or apply it with recount if it is whole.
	SetRecount Kind = "set_recount"
	// OtherForm: use edit_files for text that has such lines.
	OtherForm Kind = "other_form"
	// OtherEdit: use edit or pattern_replace.
	OtherEdit Kind = "other_edit"
	// Hint is advice that all doors word as the engine does.
	Hint Kind = "hint"
	// Install: : install it on the host. It stands after NoProgram.
	Install Kind = "install"
	// Raise: or have the host raise MaxFileBytes.
	Raise Kind = "raise"
	// FewerChanges: bring back less with writes.
	FewerChanges Kind = "fewer_changes"
	// SmallerTree: use needs or exclude.
	SmallerTree Kind = "smaller_tree"
)

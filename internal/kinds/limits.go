package kinds

// The names of limits, in the field What of actions.LimitError.
const (
	LimitFile    = "file bytes"
	LimitMatches = "matches"
	LimitOutput  = "bytes"
	LimitPattern = "pattern bytes"
	LimitShown   = "bytes shown"
	LimitExpand  = "template bytes"
	LimitStaged  = "bytes staged"
	// Of a structural pattern, which no host can raise:
	LimitSteps = "steps of a structural pattern"
	LimitText  = "bytes for a structural pattern"
	// Of a Patch, which no host can raise:
	LimitPatchBytes = "bytes of a patch"
	LimitPatchFiles = "files in a patch"
	LimitPatchHunks = "hunks in a patch"
	LimitPatchLines = "lines of a patched file"
	LimitPatchSteps = "comparisons for a patch"
	// Of commands, see command.Policy:
	LimitPrinted      = "bytes printed"
	LimitChangedFiles = "files changed"
	LimitScratchFiles = "files for commands"
	LimitScratchBytes = "bytes for commands"
)

package actions

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// The limits of a zero [Limits].
const (
	// defaultMaxFileBytes is the size of the largest file that is read, in bytes.
	defaultMaxFileBytes = 256 << 20
	// defaultMaxMatches is the number of replacements that a step may make in one file.
	defaultMaxMatches = 1_000_000
	// defaultMaxOutputBytes is the size of the text that a step may put into one file, in bytes.
	defaultMaxOutputBytes = 256 << 20
	// defaultMaxShownBytes is the size of the text that a step may show and keep, in bytes.
	defaultMaxShownBytes = 64 << 20
	// defaultMaxStagedBytes is the size, in bytes, of all new text and other data that a step may stage.
	defaultMaxStagedBytes = 64 << 20
	// defaultMaxPatternBytes is the length of the longest pattern, in bytes. It is longer than people write by hand, and
	// short enough that many patterns need little memory.
	defaultMaxPatternBytes = 1 << 20
)

// maxEdits is the largest number of edits of a multi_edit, and of patterns of a regex_transform.
const maxEdits = 10_000

// Limits bound the costs of one step. The host sets them: nothing in a pipeline can raise them. Zero means the default
// of the field, a negative number means no limit. Exceeding a limit is a [*LimitError].
type Limits struct {
	// MaxFileBytes is the size of the largest file, in bytes, that is read: to search, count, edit, compare or show it.
	// The file's stated size is checked before a byte is read, and the bytes read are checked again. Zero means 256 MiB;
	// without a limit, files of 2 GiB or more are still an error.
	MaxFileBytes int64
	// MaxMatches is the number of matches that a step may replace in one file, checked while they are found. Zero means
	// 1,000,000.
	MaxMatches int
	// MaxOutputBytes is the size of the text, in bytes, that a step may put into one file, checked before the text is
	// made. Zero means 256 MiB.
	MaxOutputBytes int64
	// MaxShownBytes is the approximate size of the text, in bytes, that a step may show and keep for later steps: contents
	// of files, lines, joined texts, diffs, previews, listings, reports. It also bounds the expanded templates of the
	// step's parameters. Warnings may use an eighth of it; further warnings are only counted. It is never more than
	// MaxOutputBytes. Zero means 64 MiB.
	MaxShownBytes int64
	// MaxStagedBytes is the size, in bytes, of everything that a step may stage in all files together. It counts new text,
	// 64 bytes for each replacement, 1 KiB for each created or copied file or directory, and 512 bytes for each edited,
	// renamed or removed path. Names that are created, copied, renamed or removed count twice. If the tree is in memory,
	// copies count with their sizes. Zero means 64 MiB.
	MaxStagedBytes int64
	// MaxPatternBytes is the length of the longest pattern, in bytes, checked before a file is read. Zero means 1 MiB.
	// Regular expressions are also limited to 64 KiB, when the pipeline is built or decoded.
	MaxPatternBytes int
}

// LimitError reports that a step exceeds a limit of the host, see [Limits] and command.Policy. Nothing was written.
type LimitError struct {
	// The name of the limit: "file bytes", "matches", "bytes" (of new text in a file), "pattern bytes", "bytes shown",
	// "template bytes", "bytes staged". "bytes printed", "files changed", "files for commands" and "bytes for commands"
	// are limits of command.Policy. The bounds of patches and structural patterns, which no host can raise, have other
	// names.
	What string
	// Limit is the value of the limit.
	Limit int64
	// Got is the actual amount, 0 if it is not known.
	Got int64
}

// Error names the limit, its value, and a way out.
func (e *LimitError) Error() string { return e.message().Error() }

// As sets a target of a door of the project to the parts of the message.
func (e *LimitError) As(target any) bool { return e.message().Give(target) }

// limitText is the message of a limit: the form, which contains the limit, and the advice.
type limitText struct {
	form   string
	advice []wording.Part
}

// raise is the advice that only the host can follow.
func raise(fields string) wording.Part {
	return wording.Part{Kind: kinds.Raise, Text: ", or have the host raise " + fields}
}

var smallerTree = wording.Part{Kind: kinds.SmallerTree, Text: "use needs or exclude"}

var limitTexts = map[string]limitText{
	kinds.LimitFile:    {"file is too large (max %d bytes%s): leave it out", []wording.Part{raise("MaxFileBytes")}},
	kinds.LimitMatches: {"too many matches in one file (max %d%s): match less", []wording.Part{raise("MaxMatches")}},
	kinds.LimitOutput: {"too much new text in one file (max %d bytes%s): replace less",
		[]wording.Part{raise("MaxOutputBytes")}},
	kinds.LimitPattern: {"pattern is too long (max %d bytes%s): shorten it", []wording.Part{raise("MaxPatternBytes")}},
	kinds.LimitSteps: {form: "structural pattern takes too long in one file (max %d steps%s): write more text between its holes, " +
		"or names that stand once"},
	kinds.LimitText: {form: "file is too large for a structural pattern (max %d bytes%s): ",
		advice: []wording.Part{{Kind: kinds.LessText, Text: "leave it out, or use mode regex"}}},
	kinds.LimitShown: {"too much to show (max %d bytes%s): ask for less",
		[]wording.Part{raise("MaxShownBytes, or MaxOutputBytes where that is less")}},
	kinds.LimitStaged: {"too much new text, or too many files, in one step (max %d bytes%s): change less",
		[]wording.Part{raise("MaxStagedBytes")}},
	kinds.LimitExpand: {"templates become too much text (max %d bytes in one step%s): use fewer",
		[]wording.Part{raise("MaxShownBytes")}},
	kinds.LimitPatchBytes: {form: "the patch, or what it makes of a file, is too large (max %d bytes%s): split it"},
	kinds.LimitPatchFiles: {form: "too many files in one patch (max %d%s): split it"},
	kinds.LimitPatchHunks: {form: "too many hunks in one patch (max %d%s): split it"},
	kinds.LimitPatchLines: {"the file has too many lines to be patched (max %d%s): ",
		[]wording.Part{{Kind: kinds.OtherEdit, Text: "use edit or pattern_replace"}}},
	kinds.LimitPatchSteps: {form: "the places of the hunks take too long to find (max %d comparisons of lines%s): " +
		"give hunks more context that is not repeated, or split the patch"},
	kinds.LimitPrinted: {"the command was ended, for it has printed too much (max %d bytes%s): have it print less",
		[]wording.Part{raise("MaxPrinted")}},
	kinds.LimitChangedFiles: {"the command has changed too many files (max %d%s): ",
		[]wording.Part{{Kind: kinds.FewerChanges, Text: "bring back less with writes"}, raise("MaxChangedFiles")}},
	kinds.LimitScratchFiles: {"the tree has too many files to be made real for a command (max %d%s): ",
		[]wording.Part{smallerTree, raise("MaxScratchFiles")}},
	kinds.LimitScratchBytes: {"the tree is too large to be made real for a command (max %d bytes%s): ",
		[]wording.Part{smallerTree, raise("MaxScratchBytes")}},
}

func (e *LimitError) message() *worded.Error {
	text, ok := limitTexts[e.What]
	if !ok {
		text.form = "too many " + strings.ReplaceAll(e.What, "%", "%%") + " (max %d%s)"
	}
	got := ""
	if e.Got > 0 {
		got = fmt.Sprintf(", got %d", e.Got)
	}
	args := []any{e.Limit, got}
	for _, part := range text.advice {
		text.form += "%v"
		args = append(args, part)
	}
	return worded.Errorf(text.form, args...)
}

// MarshalJSON returns the code, the message and the paths.
func (e *LimitError) MarshalJSON() ([]byte, error) { return errorform.Marshal(e.Code(), e) }

// Code returns "limit".
func (e *LimitError) Code() string { return errorform.Limit }

// Unwrap returns [fsutil.ErrTooLarge] for a file, else nil.
func (e *LimitError) Unwrap() error {
	if e.What == kinds.LimitFile {
		return fsutil.ErrTooLarge
	}
	return nil
}

// limit returns the effective number of a field.
func limit[T int | int64](field, byDefault T) int64 {
	switch {
	case field < 0:
		return math.MaxInt64
	case field == 0:
		return int64(byDefault)
	}
	return int64(field)
}

// FileBytes returns the size of the largest file, in bytes, that is read: the effective MaxFileBytes. A file of this
// size fits into a slice on every system.
func (l Limits) FileBytes() int64 {
	return min(limit(l.MaxFileBytes, defaultMaxFileBytes), math.MaxInt32)
}

// OutputBytes returns the effective MaxOutputBytes, in bytes.
func (l Limits) OutputBytes() int64 { return limit(l.MaxOutputBytes, defaultMaxOutputBytes) }

// ShownBytes returns the effective MaxShownBytes, in bytes.
func (l Limits) ShownBytes() int64 {
	return min(limit(l.MaxShownBytes, defaultMaxShownBytes), l.OutputBytes())
}

// StagedBytes returns the effective MaxStagedBytes, in bytes.
func (l Limits) StagedBytes() int64 { return limit(l.MaxStagedBytes, defaultMaxStagedBytes) }

func (l Limits) matches() int64 { return limit(l.MaxMatches, defaultMaxMatches) }

func (l Limits) checkPattern(pattern string) error {
	if most := limit(l.MaxPatternBytes, defaultMaxPatternBytes); int64(len(pattern)) > most {
		return &LimitError{What: kinds.LimitPattern, Limit: most, Got: int64(len(pattern))}
	}
	return nil
}

// showing is the rest of the limit on shown text of a step. It is safe for concurrent use.
type showing struct {
	limit int64
	shown atomic.Int64
}

func (l Limits) shown() *showing { return &showing{limit: l.ShownBytes()} }

// take counts bytes, and returns a *LimitError if they exceed the limit.
func (s *showing) take(bytes int) error {
	if s.shown.Add(int64(bytes)) > s.limit {
		return &LimitError{What: kinds.LimitShown, Limit: s.limit}
	}
	return nil
}

// isOfStep reports whether an error comes from a limit on the whole step. The file at which such a limit is reached
// depends on scheduling, so the error does not name a file.
func isOfStep(err error) bool {
	limit, ok := errors.AsType[*LimitError](err)
	return ok && (limit.What == kinds.LimitShown || limit.What == kinds.LimitStaged)
}

// namedUnlessOfStep is fileError, but leaves errors of a limit on the whole step unchanged.
func namedUnlessOfStep(path string, err error) error {
	if isOfStep(err) {
		return err
	}
	return fileError(path, err)
}

// Write makes a showing a writer that counts the written bytes, and fails when the limit is exceeded.
func (s *showing) Write(p []byte) (int, error) {
	if err := s.take(len(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

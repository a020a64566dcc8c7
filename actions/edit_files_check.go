package actions

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
)

// minHashDigits is the minimal length of a hash.
const minHashDigits = 12

// Lists of commands.
const (
	ofLines  = commandInsert + " " + commandReplaceLines
	withNew  = commandReplace + " " + commandAppend + " " + ofLines
	commands = commandCreate + " " + withNew
)

// editField is a parameter that only some commands have.
type editField struct {
	name   string
	given  bool
	of     string // commands that may have it
	needed string // commands that require it
	hint   string // how to write it, if its absence could be on purpose
}

func (e LineEdit) fields() []editField {
	const ofRange = "lines count from 1; -1 is the last one"
	return []editField{
		{"file_text", e.FileText != nil, commandCreate, commandCreate, ""},
		{"create_only", e.CreateOnly, commandCreate, "", ""},
		{"overwrite", e.Overwrite, commandCreate, "", ""},
		{"mode", e.Mode != "", commandCreate, "", ""},
		{"old_str", e.OldStr != "", commandReplace, commandReplace, ""},
		{"new_str", e.NewStr != nil, withNew, withNew, `write "" to delete`},
		{"replace_all", e.ReplaceAll, commandReplace, "", ""},
		{"insert_line", e.InsertLine != nil, commandInsert, commandInsert, "write 0 for the top of the file, -1 for its end"},
		{"start_line", e.StartLine != 0, commandReplaceLines, commandReplaceLines, ofRange},
		{"end_line", e.EndLine != 0, commandReplaceLines, commandReplaceLines, ofRange},
		{"range_hash", e.RangeHash != "", ofLines, "", ""},
	}
}

func hasWord(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// Validate implements [Validator].
func (e EditFiles) Validate(c *Check) {
	if len(e.FileEdits) > maxEdits {
		c.Problemf("/file_edits", codeTooMany, "split the step",
			"too many files (max %d, got %d)", maxEdits, len(e.FileEdits))
		return
	}
	first := make(map[string]int, len(e.FileEdits))
	for i, f := range e.FileEdits {
		at := fmt.Sprintf("/file_edits/%d", i)
		if f.Path != "" && !c.Templated(f.Path) {
			clean := path.Clean(f.Path)
			if j, twice := first[clean]; twice {
				hint := fmt.Sprintf("put its edits into file_edits[%d]", j)
				c.Problemf(at+"/path", codeSamePath, hint, "'%s' is edited twice", f.Path)
			} else {
				first[clean] = i
			}
		}
		if len(f.Edits) > maxEdits {
			c.Problemf(at+"/edits", codeTooMany, "split the step",
				"too many edits of one file (max %d, got %d)", maxEdits, len(f.Edits))
			continue
		}
		creates := -1
		for k, edit := range f.Edits {
			if edit.Command == commandCreate {
				if creates >= 0 {
					c.Problemf(fmt.Sprintf("%s/edits/%d/command", at, k), codeUnusedParam, "leave one of them out",
						"the file is created twice, by edit %d too", creates)
				}
				creates = k
			}
		}
		for k, edit := range f.Edits {
			edit.validate(c, fmt.Sprintf("%s/edits/%d", at, k), e.RequireHash && creates < 0)
		}
	}
}

func (e LineEdit) validate(c *Check, at string, requireHash bool) {
	if !hasWord(commands, e.Command) {
		if !c.Templated(e.Command) {
			c.Problemf(at+"/command", codeUnusedParam, "", "unknown command '%s'", e.Command)
		}
		return
	}
	bound := func(name string) bool { return c.bound(at + "/" + name) }
	for _, f := range e.fields() {
		given := f.given || bound(f.name)
		switch {
		case given && !hasWord(f.of, e.Command):
			c.Problemf(at+"/"+f.name, codeUnusedParam, "leave it out", "%s does not take '%s'", e.Command, f.name)
		case !given && hasWord(f.needed, e.Command):
			c.Problemf(at+"/"+f.name, codeMissingParam, f.hint, "%s needs '%s'", e.Command, f.name)
		}
	}
	checkMode(c, at+"/mode", e.Mode)
	e.validateHash(c, at+"/content_hash", e.ContentHash)
	e.validateHash(c, at+"/range_hash", e.RangeHash)
	switch e.Command {
	case commandCreate:
		if e.CreateOnly && e.Overwrite {
			c.Problemf(at+"/overwrite", codeUnusedParam, "use one of them",
				"create_only and overwrite exclude each other")
		}
		if e.ContentHash != "" && !e.Overwrite && !bound("overwrite") {
			c.Problemf(at+"/content_hash", codeUnusedParam, "set overwrite, or leave it out",
				"a file that is new has no content to compare")
		}
	case commandInsert:
		if e.InsertLine != nil && *e.InsertLine == 0 && e.RangeHash != "" {
			c.Problemf(at+"/range_hash", codeUnusedParam, "use content_hash",
				"there is no line before the top of the file to compare")
		}
	case commandReplaceLines:
		if e.EndLine != 0 && !bound("start_line") && !bound("end_line") {
			checkRange(c, at+"/end_line", e.StartLine, e.EndLine)
		}
	}
	if requireHash && e.ContentHash == "" && e.RangeHash == "" {
		const hint = "read the file first; its content_hash is in the result of read_ranges"
		c.Problemf(at+"/content_hash", codeMissingParam, hint, "require_hash is set, but %s has no hash", e.Command)
	}
}

func (e LineEdit) validateHash(c *Check, at, hash string) {
	const digits = 2 * len(change.Hash{})
	if hash == "" || c.Templated(hash) {
		return
	}
	if len(hash) < minHashDigits || len(hash) > digits || strings.Trim(hash, "0123456789abcdefABCDEF") != "" {
		c.Problemf(at, codeBadHash, "",
			"a SHA-256 has %d hexadecimal digits, of which at least %d are needed", digits, minHashDigits)
	}
}

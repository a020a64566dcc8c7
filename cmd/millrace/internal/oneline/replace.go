package oneline

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Replace are the arguments of `millrace replace OLD NEW [PATH…]`.
type Replace struct {
	Common
	Old, New string
	// Insert inserts New as a separate line before or after each line with Old, which stays. Zero replaces Old by New.
	Insert Insert
	// Map is a file with texts and their replacements, used instead of Old and New; "" for none. All are replaced in one
	// pass, the longest first.
	Map string
	// PreserveCase also replaces other spellings of the words of Old, see actions.Edit.
	PreserveCase bool
	// Max is the maximum number of replaced matches in each file, 0 for all.
	Max int
	// MaxTotal is the maximum number of replaced matches in all files, 0 for all.
	MaxTotal int
	// Paths are the files and directories to search. None, without FilesFrom, means the working directory.
	Paths []string
	// Regex means that Old is a regular expression in which ^ and $ match at the ends of lines, and that New can have $1
	// or ${name} for groups and \n for a line end. False means that both are literal.
	Regex bool
	// Structural means that Old is a structural pattern, which is compared token by token, and that New can have :[name]
	// for its holes. Language is the language of the files; "" derives it from their names.
	Structural bool
	Language   string
	// IgnoreCase ignores the case of letters. Words only matches Old if no letter, digit, mark or underscore is next to
	// it.
	IgnoreCase, Words bool
	// Encoding is the encoding of the files, see actions.Edit. "" is UTF-8.
	Encoding string
	// Globs select files; with "!" before them they exclude. Types select by the end of the name: "go", "go,js".
	Globs, Types []string
	// NoIgnore also searches files that .gitignore files exclude.
	NoIgnore bool
	// NoGenerated excludes files with the mark of a generator, see actions.Search.
	NoGenerated bool
	// FilesFrom is a file with more Paths, one per line, or with Nul each ended by a NUL; "-" is standard input.
	FilesFrom string
	Nul       bool
}

// ErrNoFiles reports that FilesFrom names no file, so that Replace has no work.
var ErrNoFiles = errors.New("--files-from names no file")

// Insert is the place of an inserted line.
type Insert uint8

// The places of a line.
const (
	InsertNone Insert = iota
	InsertBefore
	InsertAfter
)

// The ids of steps used by all commands.
const (
	stepFind = "find"
	stepFix  = "fix"
)

// Replace returns the pipeline: a search, and an edit of the files found. For a single file it is only the edit, which
// can report the nearest lines if it finds nothing to replace.
func (w Where) Replace(r Replace) (millrace.Pipeline, error) {
	if r.Old == "" && r.Map == "" {
		return millrace.Pipeline{}, usage("", "the text to replace cannot be empty")
	}
	if r.Regex && (r.Words || r.Insert != InsertNone) {
		if err := checkWhole(r.Old); err != nil {
			return millrace.Pipeline{}, err
		}
	}
	if err := r.together(); err != nil {
		return millrace.Pipeline{}, err
	}
	expect, err := r.edits()
	if err != nil {
		return millrace.Pipeline{}, err
	}
	paths, err := w.paths(r)
	if err != nil {
		return millrace.Pipeline{}, err
	}
	search := actions.Search{Mode: "literal", IgnoreCase: r.IgnoreCase, NoIgnore: r.NoIgnore,
		NoGenerated: r.NoGenerated,
		Encoding:    r.Encoding}
	edit := actions.Edit{IgnoreCase: r.IgnoreCase, NewText: r.New, Encoding: r.Encoding, PreserveCase: r.PreserveCase,
		MaxPerFile: r.Max, MaxTotal: r.MaxTotal}
	if search.Include, search.Exclude, err = w.filters(r.Globs); err != nil {
		return millrace.Pipeline{}, err
	}
	if search.FileTypes, err = types(r.Types); err != nil {
		return millrace.Pipeline{}, err
	}
	edit.OldText = r.Old
	if r.Regex || r.Words {
		search.Mode, edit.Mode = "regex", "regex"
		edit.OldText = r.pattern()
		if !r.Regex {
			edit.NewText = verbatim(r.New)
		}
	}
	if r.Structural {
		search.Mode, edit.Mode = "structural", "structural"
		search.Language, edit.Language = r.Language, r.Language
	}
	search.Pattern = edit.OldText
	list := actions.MultiEdit{Mode: "longest", IgnoreCase: r.IgnoreCase, Encoding: r.Encoding}
	if r.Map != "" {
		if list.Edits, err = w.wordList(r.Map); err != nil {
			return millrace.Pipeline{}, err
		}
		search.Mode, search.Pattern = "regex", anyOf(list.Edits)
	}
	if r.PreserveCase {
		search.Mode, search.Pattern = "regex", anyOf(actions.CaseVariants(r.Old, r.New))
	}
	if r.Insert != InsertNone {
		edit.Mode, edit.OldText, edit.NewText = "regex", r.line(), r.withLine()
	}
	fix := millrace.Step{ID: stepFix, Expect: expect}
	if len(paths) == 1 && w.look(paths[0]) == File && len(r.Globs)+len(r.Types) == 0 && r.FilesFrom == "" &&
		!r.NoGenerated {
		edit.Files, list.Files = paths, paths
		fix.Action, fix.Raw = edit, braced(edit.OldText, edit.NewText, paths[0])
		if r.Map != "" {
			fix.Action, fix.Raw = list, true
		}
		return r.build("replace", cmp.Or(r.Old, r.Map), fix)
	}
	switch {
	case len(paths) > 1:
		search.Paths = paths
	case paths[0] != ".":
		search.Path = paths[0]
	}
	find := millrace.Step{ID: stepFind, Action: search}
	find.Raw = braced(search.Pattern) || braced(paths...) || braced(search.Include...) || braced(search.Exclude...)
	fix.Action, fix.InputFrom, fix.Raw = edit, stepFind, braced(edit.OldText, edit.NewText)
	if r.Map != "" {
		fix.Action, fix.Raw = list, true
	}
	return r.build("replace", cmp.Or(r.Old, r.Map), find, fix)
}

// together refuses arguments that exclude each other.
func (r Replace) together() error {
	switch {
	case r.Language != "" && !r.Structural:
		return usage("add -s, or leave it out", "--lang is for structural patterns")
	case r.Structural && (r.Regex || r.Words || r.PreserveCase || r.Map != "" || r.Insert != InsertNone):
		return usage("leave them out", "-r, -w, --preserve-case, --map, --before and --after do not go with -s")
	case r.Map != "" && (r.Regex || r.Words || r.PreserveCase || r.Max+r.MaxTotal > 0 || r.Insert != InsertNone):
		return usage("leave them out",
			"-r, -w, --preserve-case, --max, --max-total, --before and --after do not go with --map")
	case r.PreserveCase && (r.Regex || r.Words || r.IgnoreCase || r.Insert != InsertNone):
		return usage("leave them out", "-r, -w, -i, --before and --after do not go with --preserve-case")
	}
	return nil
}

// pattern returns the regular expression for the text. Words consist of letters, digits and marks of all scripts.
func (r Replace) pattern() string {
	switch {
	case !r.Words:
		return r.Old
	case r.Regex:
		return `(?u)\b(?:` + r.Old + `)\b`
	}
	// Next to a character that is not part of a word, \B matches where no word begins or ends.
	first, _ := utf8.DecodeRuneInString(r.Old)
	last, _ := utf8.DecodeLastRuneInString(r.Old)
	return "(?u)" + edge(first) + regexp.QuoteMeta(r.Old) + edge(last)
}

func edge(c rune) string {
	if c == '_' || unicode.In(c, unicode.Letter, unicode.Digit, unicode.Mark) {
		return `\b`
	}
	return `\B`
}

// paths returns the paths to search, relative to the root of the tree, each once.
func (w Where) paths(r Replace) ([]string, error) {
	arguments := r.Paths
	if r.FilesFrom != "" {
		data, err := w.read(r.FilesFrom)
		if err != nil {
			return nil, err
		}
		names := list(data, r.Nul)
		if len(names) == 0 && len(arguments) == 0 {
			return nil, &UsageError{Message: ErrNoFiles.Error(), Err: ErrNoFiles}
		}
		arguments = append(arguments[:len(arguments):len(arguments)], names...)
	} else if r.Nul {
		return nil, usage("add --files-from FILE", "-0 ends the names of --files-from with NUL")
	}
	if len(arguments) == 0 {
		return []string{w.dir()}, nil
	}
	var paths []string
	seen := make(map[string]bool, len(arguments))
	for i, argument := range arguments {
		name, err := w.place(argument)
		if err != nil {
			return nil, err
		}
		if i < len(r.Paths) && isGlob(argument) && w.look(name) == Nothing {
			return nil, usage("write -g and the glob, in quotes", "there is no '%s', and PATH takes no globs",
				shown(argument))
		}
		if !seen[name] {
			seen[name] = true
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// list returns the names in a list: the text before each terminator, and the text after the last one. Empty names are
// ignored. A line may end in CRLF.
func list(data []byte, nul bool) []string {
	end := "\n"
	if nul {
		end = "\x00"
	}
	var names []string
	for _, name := range strings.Split(string(data), end) {
		if !nul {
			name = strings.TrimSuffix(name, "\r")
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

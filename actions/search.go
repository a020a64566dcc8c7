package actions

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/walk"
	"github.com/millrace-go/millrace/wording"
)

// Search finds the files below a path in which a pattern matches.
//
// It leaves out version control directories, the state directory, binary files (a NUL in the first 8,000 bytes) and
// files that .gitignore excludes. It reads hidden files. NoGenerated leaves out files with the mark of a generator
// within their first 8,000 bytes. LeftOut of the outcome counts chosen files that are binary, UTF-16 or too large. With
// Encoding, files are decoded and searched as UTF-8. Files larger than MaxFileBytes or the host's limit are left out
// with a warning. If Path itself is a file beyond the host's limit, the error is a *LimitError. Symbolic links are not
// followed, except Path. The outcome has the number of matches in each file, and the mode in which the pattern was
// read.
//
// With Lines, the content of a file is the lines with matches, and ContextLines lines around each, in the form of grep:
//
//	Line 9- before
//	Line 10: a match
//	Line 11- after
//	--
//	Line 42: ...
//
// With Matches, Outcome.Data has the list "matches". Each match has its file, its first and last line and column, from
// 1, its text, and the texts of its holes by name. Groups of a regular expression without a name are named by their
// number.
//
// A match over several lines shows all of them. A line of more than 1,000 bytes is cut to 1,000 bytes around its first
// match, with "…" for the rest; bytes that are not UTF-8 are shown as U+FFFD. The text of all files is limited by
// [Limits].MaxOutputBytes. Lines needs the whole file in memory.
//
// Include and Exclude are globs on paths relative to the root of the tree, with slashes, as in results: "*" matches any
// characters except a slash, "**" any number of directories, "{a,b}" either part. A glob without a slash is matched
// only with the last element. A directory that Exclude matches is left out with its contents. A backslash makes the
// next character literal, and so do brackets around it: `\*` and "[*]" match a star.
type Search struct {
	Path           string   `json:"path,omitempty" doc:"Directory or file to search. Default: the whole tree."`
	Paths          []string `json:"paths,omitempty" doc:"Several directories or files to search, instead of path."`
	Pattern        string   `json:"pattern" param:"required" doc:"Text, regular expression (RE2 syntax) or structural pattern to find."`
	Mode           string   `json:"mode,omitempty" enum:"auto,literal,regex,structural" doc:"structural compares code token by token; f(:[a], :[b...]) has holes for balanced text. Default: auto, regex if it is valid and has special characters."`
	Language       string   `json:"language,omitempty" doc:"Language of the files, in mode structural. Default: by their names."`
	FileTypes      []string `json:"file_types,omitempty" doc:"Only files with any of these extensions, such as .go or .d.ts, in any case."`
	Include        []string `json:"include,omitempty" doc:"Only files that match any of these globs, such as *_test.go or src/**/*.js."`
	Exclude        []string `json:"exclude,omitempty" doc:"No files that match any of these globs, such as node_modules or dist/**."`
	IncludeContent bool     `json:"include_content,omitempty" doc:"Also return the content of the files found."`
	Lines          bool     `json:"lines,omitempty" doc:"Also return the lines with matches, as Line 10: text."`
	ContextLines   int      `json:"context_lines,omitempty" doc:"Lines to return around each, as Line 9- text, with -- between groups; turns lines on. Default: 0."`
	Matches        bool     `json:"matches,omitempty" doc:"Also return data.matches: places, texts, holes or groups."`
	NoIgnore       bool     `json:"no_ignore,omitempty" doc:"Also search files that .gitignore ignores."`
	NoGenerated    bool     `json:"no_generated,omitempty" doc:"Omit generated files."`
	IgnoreCase     bool     `json:"ignore_case,omitempty" doc:"Ignore the case of letters."`
	WithoutMatch   bool     `json:"without_match,omitempty" doc:"Return the text files without a match."`
	Encoding       string   `json:"encoding,omitempty" enum:"utf-8,auto,utf-16le,utf-16be,latin1" doc:"Encoding of the files; auto detects UTF-16 by its byte order mark. Default: utf-8."`
	MaxFileBytes   int64    `json:"max_file_bytes,omitempty" param:"nonzero" doc:"Larger files are omitted with a warning. At most, and by default, the host's limit, which is 268435456 by default."`
}

// Spec implements [Action].
func (s Search) Spec() Spec {
	const summary = "Find the files that a text or a regular expression matches in"
	return Spec{Name: "search", Summary: summary, ReadOnly: true, Input: InputNone, Data: s.Matches}
}

// Validate implements [Validator].
func (s Search) Validate(c *Check) {
	checkPattern(c, "/pattern", s.Pattern, s.Mode, match.Auto, s.flags())
	checkLanguage(c, s.Language, s.Mode == structuralMode || c.Templated(s.Mode))
	checkFilter(c, s.FileTypes, s.Include, s.Exclude)
	if s.ContextLines < 0 {
		c.Problemf("/context_lines", codeBadRange, "leave it out for none", "context_lines cannot be negative")
	}
	if at := "/lines"; s.IncludeContent && s.shows() {
		if !s.Lines {
			at = "/context_lines"
		}
		c.Problemf(at, codeBadRange, "use one of them", "include_content returns all lines already")
	}
	if s.Path != "" && len(s.Paths) > 0 {
		c.Problemf("/paths", codeBadRange, "use one of them", "path and paths exclude each other")
	}
	if s.WithoutMatch && (s.IncludeContent || s.shows() || s.Matches) {
		c.Problemf("/without_match", codeBadRange, "leave out include_content, matches, lines and context_lines",
			"files without a match have no lines to show")
	}
	if s.MaxFileBytes < 0 {
		c.Problemf("/max_file_bytes", codeBadRange, "leave it out for the default", "max_file_bytes cannot be negative")
	}
}

// Touches implements [Toucher]. A search also depends on the .gitignore files above its path.
func (s Search) Touches() (reads, writes []string, known bool) {
	for _, root := range s.roots() {
		reads = append(reads, walkReads(root, s.NoIgnore)...)
	}
	return reads, nil, true
}

func (s Search) roots() []string {
	if len(s.Paths) > 0 {
		return s.Paths
	}
	return []string{cmp.Or(s.Path, ".")}
}

func (s Search) flags() match.Flags {
	return match.Flags{IgnoreCase: s.IgnoreCase, Language: s.Language}
}

func (s Search) shows() bool { return s.Lines || s.ContextLines > 0 }

// Run implements [Action].
func (s Search) Run(ctx context.Context, c *Call) (Outcome, error) {
	p, err := c.compilePattern("pattern", s.Pattern, s.Mode, match.Auto, s.flags())
	if err != nil {
		return Outcome{}, err
	}
	filter, err := newFilter(s.FileTypes, s.Include, s.Exclude)
	if err != nil {
		return Outcome{}, err
	}
	maxBytes := c.Limits.FileBytes()
	if s.MaxFileBytes > 0 {
		maxBytes = min(maxBytes, s.MaxFileBytes)
	}
	w := &searching{Search: s, c: c, pattern: p, room: c.Limits.shown(), maxBytes: maxBytes}
	w.mayMatch, w.overlap = p.Screen()
	if w.encoding, err = encodingOf(s.Encoding); err != nil {
		return Outcome{}, err
	}
	roots := s.roots()
	if by := cmp.Or(emptiedList(ctx, "paths", s.Paths), emptiedFilter(ctx, s.FileTypes, s.Include)); by != "" {
		c.Warnf("nothing was searched, because %s is an empty list", by)
		roots = nil
	}
	if len(roots) > 1 {
		w.visited = new(sync.Map)
	}
	progress := c.progress(0)
	for _, root := range roots {
		if err := s.walk(ctx, w, root, filter, progress); err != nil {
			return Outcome{}, walkError(root, err)
		}
	}
	progress.end()
	if filter.chooses() && len(roots) > 0 && !w.taken.Load() {
		below := strings.Join(roots, ", ")
		c.Warnf("%v", wording.Part{
			Kind: kinds.NoneTaken, Value: below,
			Text: "no file below " + below + " is taken by include and file_types",
		})
	}
	return w.outcome(), nil
}

func (s Search) walk(ctx context.Context, w *searching, from string, filter *filter, progress *progress) error {
	root, info, opt, err := w.c.walkFrom(from, "searched", s.NoIgnore, filter)
	if err != nil {
		return err
	}
	if most := w.c.Limits.FileBytes(); info.Mode().IsRegular() && info.Size() > most {
		return fileError(root, &LimitError{What: kinds.LimitFile, Limit: most, Got: info.Size()})
	}
	return walk.Walk(ctx, w.c.stage(), root, opt, func(e walk.Entry) error {
		if !filter.takes(e.Path, e.Name()) || !w.first(e) {
			return nil
		}
		if !w.taken.Load() {
			w.taken.Store(true)
		}
		if err := w.file(ctx, e); err != nil {
			return namedUnlessOfStep(e.Path(), err)
		}
		progress.file()
		return nil
	})
}

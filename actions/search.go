package actions

import (
	"context"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

// Search finds the files below a path in which a pattern matches (S0.17, S0.18, X10, X11, X51).
//
// Version control directories, the state directory, binary files (a NUL in the first 8 KiB) and what .gitignore files
// leave out are not looked at; hidden files are. Files that are larger than MaxFileBytes, or than the host's limit if that is
// less, are left out with a warning; a Path that is itself such a file is a *LimitError if it is the host's limit. Symbolic links are not followed, but for Path itself. The outcome has the
// number of matches in each file, and how the pattern was read.
//
// Include and Exclude are globs on paths relative to the root of the tree, with slashes, as they appear in results: "*"
// stands for anything but a slash, "**" for any number of directories, "{a,b}" for one of several. A glob without a slash
// is held against the last element alone. A directory that Exclude matches is left out with all that is in it.
type Search struct {
	Path           string   `json:"path,omitempty" doc:"Directory or file to search. Default: the whole tree."`
	Pattern        string   `json:"pattern" param:"required" doc:"Text or regular expression (RE2 syntax) to find."`
	Mode           string   `json:"mode,omitempty" enum:"auto,literal,regex" doc:"How the pattern is read. Default: auto, which takes it for a regular expression if it is one and has a character that means something there, and for a text otherwise."`
	FileTypes      []string `json:"file_types,omitempty" doc:"Only files whose names end in one of these extensions, such as .go or .d.ts, in any case."`
	Include        []string `json:"include,omitempty" doc:"Only files that match one of these globs, such as *_test.go or src/**/*.js."`
	Exclude        []string `json:"exclude,omitempty" doc:"No files and directories that match one of these globs, such as node_modules or dist/**."`
	IncludeContent bool     `json:"include_content,omitempty" doc:"Also return the content of the files found."`
	NoIgnore       bool     `json:"no_ignore,omitempty" doc:"Also search what .gitignore files leave out."`
	IgnoreCase     bool     `json:"ignore_case,omitempty" doc:"Take upper and lower case letters for the same."`
	MaxFileBytes   int64    `json:"max_file_bytes,omitempty" doc:"Files larger than this are left out, with a warning. It can only lower the host's limit, which is the default: 268435456 unless the host has another one."`
}

// Spec implements [Action].
func (Search) Spec() Spec {
	return Spec{Name: "search", Summary: "Find the files that a text or a regular expression matches in", ReadOnly: true, Input: InputNone}
}

// Validate implements [Validator].
func (s Search) Validate(c *Check) {
	checkPattern(c, "/pattern", s.Pattern, s.Mode, match.Auto, match.Flags{IgnoreCase: s.IgnoreCase})
	checkFilter(c, s.FileTypes, s.Include, s.Exclude)
	if s.MaxFileBytes < 0 {
		c.Problemf("/max_file_bytes", codeBadRange, "leave it out for the default", "max_file_bytes cannot be negative")
	}
}

// Touches implements [Toucher]. A search also depends on the .gitignore files above its path.
func (s Search) Touches() (reads, writes []string, known bool) {
	return walkReads(orTop(s.Path), s.NoIgnore), nil, true
}

// Run implements [Action].
func (s Search) Run(ctx context.Context, c *Call) (Outcome, error) {
	p, err := c.compilePattern("pattern", s.Pattern, s.Mode, match.Auto, match.Flags{IgnoreCase: s.IgnoreCase})
	if err != nil {
		return Outcome{}, err
	}
	filter, err := newFilter(s.FileTypes, s.Include, s.Exclude)
	if err != nil {
		return Outcome{}, err
	}
	root, info, err := walkStart(c, orTop(s.Path))
	if err == nil {
		err = fileError(root, c.Limits.checkFile(info))
	}
	if err != nil {
		return Outcome{}, walkError(orTop(s.Path), err)
	}
	maxBytes := c.Limits.FileBytes()
	if s.MaxFileBytes > 0 {
		maxBytes = min(maxBytes, s.MaxFileBytes)
	}
	w := &searching{c: c, pattern: p, content: s.IncludeContent, maxBytes: maxBytes}
	w.mayMatch, w.overlap = p.Screen()
	progress := c.progress(0)
	opt := c.walkOptions(root, "searched", s.NoIgnore, filter)
	err = fsutil.Walk(ctx, c.FS, root, opt, func(e fsutil.Entry) error {
		if !filter.takes(e.Path) {
			return nil
		}
		if err := w.file(ctx, e); err != nil {
			return fileError(e.Path, err)
		}
		progress.file()
		return nil
	})
	if err != nil {
		return Outcome{}, walkError(orTop(s.Path), err)
	}
	progress.end()
	return w.outcome(), nil
}

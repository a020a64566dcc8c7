package actions

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/walk"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// PatternReplace runs a sed script over all files of a directory that match a glob, or over named files.
//
// The script is a script of GNU sed, limited to commands that need no second text: s, y, d, p, a, i, c, n, N, q, Q, {…}
// with all addresses; docs/json-actions.md lists the missing features. Each file is a separate text, as with sed -i:
// lines count from 1 in each file, "$" is its last line, and q ends only this file. Back-references in the pattern, and
// commands that read or write other files or run programs, are refused before the run.
//
// A FilePattern without a slash is matched with the names of the files in Directory, and with Recursive also in the
// directories below. With a slash, or with "**", it is matched with paths relative to Directory. It leaves out the same
// files as a [Search]: version control directories, files that .gitignore excludes, binary files.
//
// Files are edited even if .gitignore excludes them, each once, through symbolic links; binary files are left out.
// Files replaces FilePattern and all its options.
//
// FilesModified and FilesSkipped count the files that match the globs. Files and Counts of the outcome are the files
// that changed, with the number of substitutions (1 if lines were only deleted, printed or transliterated). Reports has
// each file that matches the glob and was looked into. In a dry run the report has a preview, and whether the file
// would be modified.
type PatternReplace struct {
	Directory       string   `json:"directory,omitempty" doc:"Directory of the files. Default: the root of the tree."`
	FilePattern     string   `json:"file_pattern,omitempty" doc:"Glob for the files, such as *.js, or src/**/*.py for paths from the directory. Required without files."`
	Files           []string `json:"files,omitempty" doc:"Files to edit, instead of file_pattern and its options."`
	ExcludePatterns []string `json:"exclude_patterns,omitempty" doc:"Globs of files and directories to omit, from the directory, such as dist/**."`
	Recursive       bool     `json:"recursive,omitempty" doc:"Also edit files in subdirectories. A file_pattern with ** does so anyway."`
	SedPattern      []string `json:"sed_pattern" param:"required,single" doc:"The script, such as s/const /let /g, or several as with several -e."`
	Syntax          string   `json:"syntax,omitempty" enum:"ere,bre,re2" doc:"ere as in sed -E, bre as in sed, re2 as in the other actions. Default: ere."`
	Quiet           bool     `json:"quiet,omitempty" doc:"Keep only the lines that the script prints, as sed -n does."`
	OnError         string   `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
	NoIgnore        bool     `json:"no_ignore,omitempty" doc:"Also edit files that .gitignore ignores."`
	Binary          bool     `json:"binary,omitempty" doc:"Also edit files that look binary; by default they are omitted."`
}

// Spec implements [Action].
func (PatternReplace) Spec() Spec {
	return Spec{Name: "pattern_replace", Summary: "Run a sed script over the files of a directory", Input: InputNone}
}

// Validate implements [Validator].
func (p PatternReplace) Validate(c *Check) {
	p.checkFiles(c)
	if p.FilePattern != "" && !c.Templated(p.FilePattern) {
		if _, err := compileGlobs([]string{p.FilePattern}); err != nil {
			c.problem("/file_pattern", codeBadGlob, err)
		}
	}
	checkGlobs(c, "/exclude_patterns", p.ExcludePatterns)
	if slices.ContainsFunc(p.SedPattern, c.Templated) || c.Templated(p.Syntax) || len(p.SedPattern) == 0 {
		return
	}
	script, err := p.script()
	if err == nil && script.Size() <= maxKept {
		c.Keep = &keptScript{p.scriptKey(), script}
	}
	if e, ok := errors.AsType[*sed.Error](err); ok {
		p := Problem{Param: fmt.Sprintf("/sed_pattern/%d", e.Script), Code: codeBadScript, Hint: e.Hint}
		p.Message = fmt.Sprintf("sed script: line %d, column %d: %s", e.Line, e.Column, e.Text)
		if e.Window {
			advice := wording.Part{Kind: kinds.WholeFile,
				Text: "a step edit with mode regex sees the whole file, with \\n for a line end"}
			p.Hint += "; " + advice.Text
			p.Err = worded.Errorf("%s: %s; %v", p.Message, e.Hint, advice)
		}
		c.Problems = append(c.Problems, p)
	} else if err != nil {
		c.problem("/sed_pattern", codeBadScript, err)
	}
}

// checkFiles reports files that are chosen in two ways or not at all.
func (p PatternReplace) checkFiles(c *Check) {
	named := len(p.Files) > 0 || c.bound("/files")
	if c.IsTemplated == nil {
		named = named || p.Files != nil // the values are final, and a template has returned no files
	}
	switch {
	case !named && p.FilePattern == "":
		const hint = "or 'files', for files by their names"
		c.Problemf("/file_pattern", codeMissingParam, hint, "pattern_replace action requires 'file_pattern' parameter")
	case named:
		for _, other := range []struct {
			name  string
			given bool
		}{
			{"file_pattern", p.FilePattern != ""}, {"directory", p.Directory != ""}, {"recursive", p.Recursive},
			{"exclude_patterns", len(p.ExcludePatterns) > 0}, {"no_ignore", p.NoIgnore},
		} {
			if other.given {
				c.Problemf("/"+other.name, codeUnusedParam, "use one of them", "files and %s exclude each other",
					other.name)
			}
		}
	}
}

// keptScript is the script that Validate has parsed, with its key: an action around this action may run another script.
type keptScript struct {
	key    string
	script *sed.Script
}

func (p PatternReplace) scriptKey() string {
	return fmt.Sprintf("%q %q %t", p.SedPattern, p.Syntax, p.Quiet)
}

func (p PatternReplace) script() (*sed.Script, error) {
	syntax, ok := map[string]sed.Syntax{"": sed.ERE, "ere": sed.ERE, "bre": sed.BRE, "re2": sed.RE2}[p.Syntax]
	if !ok {
		return nil, fmt.Errorf("syntax '%s' is not ere, bre or re2", p.Syntax)
	}
	return sed.Parse(p.SedPattern, sed.Options{Syntax: syntax, Quiet: p.Quiet})
}

// Touches implements [Toucher].
func (p PatternReplace) Touches() (reads, writes []string, known bool) {
	if len(p.Files) > 0 {
		return p.Files, p.Files, true
	}
	return walkReads(p.Directory, p.NoIgnore), []string{path.Clean(p.Directory)}, true
}

// files returns the named files, or the files that match the globs, in order.
func (p PatternReplace) files(ctx context.Context, c *Call, dir string) ([]string, error) {
	if p.FilePattern == "" {
		return distinctTargets(c, p.OnError == onErrorContinue)
	}
	filter, err := newFilter(nil, []string{p.FilePattern}, p.ExcludePatterns)
	if err != nil {
		return nil, err
	}
	root, info, opt, err := c.walkFrom(dir, "searched", p.NoIgnore, filter)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &FileError{Path: dir, Err: fsutil.ErrNotDir}
	}
	below := func(name string) string { return strings.TrimPrefix(name, root+"/") }
	if skip := opt.Skip; skip != nil {
		opt.Skip = func(name string, isDir bool) bool { return skip(below(name), isDir) }
	}
	if !p.Recursive {
		opt.Depth = filter.include[0].depth()
	}
	var mu sync.Mutex
	var files []string
	err = walk.Walk(ctx, c.stage(), root, opt, func(e walk.Entry) error {
		if filter.include[0].matches(below(e.Path())) {
			mu.Lock()
			defer mu.Unlock()
			files = append(files, e.Path())
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

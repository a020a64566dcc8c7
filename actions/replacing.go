package actions

import (
	"context"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
)

// OverlapError says that two edits of one step want the same bytes.
type OverlapError = replace.OverlapError

// replacing is the work of the actions that replace text: edit, multi_edit and regex_transform.
type replacing struct {
	rules   replace.Rules
	labels  []string // what messages call the rules
	size    int      // of their regular expressions, in instructions
	binary  bool
	onError string
}

// add adds a rule: what is found, and what it becomes. label is what messages call it.
func (r *replacing) add(c *Call, label, pattern, mode string, flags match.Flags, replacement string) error {
	p, err := c.compilePattern(label, pattern, mode, match.Literal, flags)
	if err != nil {
		return err
	}
	if r.size += p.Size(); checkSizes(r.size) != nil {
		return withHint(checkSizes(r.size))
	}
	t := match.Text(replacement)
	if p.Mode() == match.Regex {
		if t, err = match.ParseTemplate(replacement, p.Parsed); err != nil {
			return withHint(err)
		}
	}
	by := []fsutil.Origin{{Step: c.Step, Edit: len(r.labels)}}
	r.rules.List = append(r.rules.List, &replace.Rule{Pattern: p, Template: t, By: by})
	r.labels = append(r.labels, label)
	return nil
}

// run replaces in all files of the call and returns the outcome. Files, Counts and Edits tell of the files that
// really changed.
func (r *replacing) run(ctx context.Context, c *Call) (Outcome, error) {
	goOn := r.onError == onErrorContinue
	r.rules.Laps, r.rules.Sizes = c.EditsExpected, c.sizes
	files, err := distinctTargets(c, goOn)
	if err != nil {
		return Outcome{}, err
	}
	edits := make([]int, len(files))
	failed, err := c.try(ctx, files, goOn, func(ctx context.Context, i int, file string) (err error) {
		edits[i], err = r.file(ctx, c, file)
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: map[string]int{}}
	for i, file := range files {
		if err := failed[i]; err != nil {
			c.Warnf("%v; left as it was", err)
		}
		if goOn {
			out.Reports = append(out.Reports, reportOf(file, failed[i]))
		}
		out.change(file, edits[i])
	}
	r.warn(ctx, c, files)
	return out, nil
}

// file replaces in one file and returns how many replacements it made.
func (r *replacing) file(ctx context.Context, c *Call, name string) (edits int, err error) {
	left := c.budget()
	err = c.update(name, unlessBinary(r.binary), func(text *source) (splices []fsutil.Splice, err error) {
		left.Restart()
		if splices, edits, err = r.rules.Splices(ctx, text, left); err == nil {
			err = left.Spend() // a file that stays as it was has no new text
		}
		return splices, err
	})
	if err != nil {
		return 0, err
	}
	return edits, nil
}

// distinctTargets returns the files of the call without those that symbolic links lead to a second time. Of several
// names of one file the one without a link stays. With keep, a name that leads nowhere stays too, for the one who
// reads it.
func distinctTargets(c *Call, keep bool) ([]string, error) {
	targets := make([]string, len(c.Files))
	own := make(map[string]bool, len(c.Files))
	for i, file := range c.Files {
		target, err := c.FS.Resolve(file)
		switch {
		case err != nil && keep:
			target = file
		case err != nil:
			return nil, fileError(file, err)
		}
		targets[i] = target
		own[target] = own[target] || target == file
	}
	seen := make(map[string]bool, len(c.Files))
	files := make([]string, 0, len(c.Files))
	for i, file := range c.Files {
		target := targets[i]
		if seen[target] || own[target] && file != target {
			continue
		}
		seen[target] = true
		files = append(files, file)
	}
	return files, nil
}

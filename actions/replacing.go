package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/charset"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/replace"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// replacing does the work of the actions that replace text: edit, multi_edit and regex_transform.
type replacing struct {
	rules   replace.Rules
	labels  []string     // the names of the rules in messages
	names   wording.Kind // the kind of the rules' texts, "" if all doors use the labels
	fresh   []string     // their new texts
	size    int          // of their regular expressions, in instructions
	binary  bool
	onError string
	charset charset.Encoding
	// total limits the matches of the single rule that are replaced in all files, 0 for no limit.
	total int
}

// add adds a rule: a pattern and its replacement. label is the name of the rule in messages.
func (r *replacing) add(c *Call, label, pattern, mode string, flags match.Flags, replacement string) error {
	p, err := c.compilePattern(label, pattern, mode, match.Literal, flags)
	if err != nil {
		return err
	}
	if r.size += p.Size(); checkSizes(r.size) != nil {
		return withHint(checkSizes(r.size))
	}
	t := match.Text(replacement)
	if p.Mode() != match.Literal {
		if t, err = match.ParseTemplate(replacement, p.Parsed); err != nil {
			return withHint(err)
		}
	}
	by := []change.Origin{{Step: c.Step, Edit: len(r.labels)}}
	r.rules.List = append(r.rules.List, &replace.Rule{Pattern: p, Template: t, By: by})
	r.labels, r.fresh = append(r.labels, label), append(r.fresh, replacement)
	return nil
}

// run replaces in all files of the call. Files, Counts and Edits are about the files that changed.
func (r *replacing) run(ctx context.Context, c *Call) (Outcome, error) {
	goOn := r.onError == onErrorContinue
	r.rules.Laps, r.rules.Sizes = c.EditsExpected, c.sizes
	files, err := distinctTargets(c, goOn)
	if err != nil {
		return Outcome{}, err
	}
	edits, failed, err := r.files(ctx, c, files, goOn)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: map[string]int{}}
	for i, file := range files {
		if err := failed[i]; err != nil {
			c.warnLeft(file, "%v; left as it was", err)
		}
		if goOn {
			out.Reports = append(out.Reports, ReportOf(file, failed[i]))
		}
		out.change(file, edits[i])
	}
	r.warn(ctx, c, files)
	return out, nil
}

// files replaces in each file. It returns the number of replacements and the error of each file. Only with total does a
// file depend on the files before it.
func (r *replacing) files(
	ctx context.Context, c *Call, files []string, goOn bool,
) (edits []int, failed []error, err error) {
	edits = make([]int, len(files))
	one := func(ctx context.Context, i int, file string) (err error) {
		edits[i], err = r.file(ctx, c, file)
		return err
	}
	if r.total > 0 {
		defer func(workers int) { c.Workers = workers }(c.Workers)
		c.Workers = 1 // in the order of the list
		one = r.upTo(c, edits)
	}
	failed, err = c.try(ctx, files, goOn, one)
	return edits, failed, err
}

// upTo returns a function that replaces in one file after another until the total is reached.
func (r *replacing) upTo(c *Call, edits []int) func(ctx context.Context, i int, file string) error {
	rule, left := r.rules.List[0], r.total
	most := rule.Most
	return func(ctx context.Context, i int, file string) (err error) {
		if left == 0 {
			return nil
		}
		if rule.Most = left; most > 0 {
			rule.Most = min(most, left)
		}
		edits[i], err = r.file(ctx, c, file)
		left -= edits[i]
		return err
	}
}

// file replaces in one file and returns the number of replacements.
func (r *replacing) file(ctx context.Context, c *Call, name string) (edits int, err error) {
	left, refusal := c.budget(), unlessBinary(r.binary)
	rules := r.rules // a copy with another name
	rules.Name = name
	ofSource := refusal
	if r.charset != charset.UTF8 {
		ofSource = nil // UTF-16 looks binary
	}
	err = c.update(name, ofSource, func(text *source) ([]change.Splice, error) {
		return inEncoding(r.charset, text, refusal, func(text match.Content) (splices []change.Splice, err error) {
			left.Restart()
			if splices, edits, err = rules.Splices(ctx, text, left); err == nil {
				err = left.Spend() // a file that stays as it was has no new text
			}
			if err == nil && len(splices) > 0 && r.onError == onErrorContinue {
				err = c.protected(name)
			}
			return splices, limitOfSteps(err)
		})
	})
	if err != nil {
		return 0, err
	}
	return edits, nil
}

// distinctTargets returns the files of the call, each target once: of several names the name without a link stays. With
// keep, a name that leads nowhere stays too, and fails when it is read.
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

// Bounds on the search for lines that nearly match a text that was not found.
const (
	nearestFiles = 20      // files looked into
	nearestHints = 3       // places named
	nearestTexts = 5       // texts looked for
	nearestBytes = 8 << 20 // bytes of files looked at for one step
)

// warn warns once of all replacements that matched nothing anywhere or changed nothing, which is not a failure.
func (r *replacing) warn(ctx context.Context, c *Call, files []string) {
	if len(files) == 0 {
		return // the executor reports that there was nothing to work on
	}
	var missing, idle []int
	var texts []error
	for i := range r.rules.List {
		switch {
		case !r.rules.List[i].Matched.Load():
			missing = append(missing, i)
		case !r.rules.List[i].Changed.Load():
			idle = append(idle, i)
		}
	}
	budget := nearestBytes
	texts = append(texts, names.FirstErrors(missing, nearestTexts, func(i int) error {
		return worded.Errorf("%v matches nothing in %s", r.name(i), r.missing(ctx, c, files, i, &budget))
	})...)
	texts = append(texts, names.FirstErrors(idle, nearestTexts, func(i int) error {
		return worded.Errorf("%v is found, but its replacement is the same", r.name(i))
	})...)
	if i := slices.IndexFunc(r.rules.List, func(rule *replace.Rule) bool { return rule.Laps.Load() }); i >= 0 {
		texts = append(texts, worded.Errorf(
			"matches of %v overlap; they are counted from left to right, each from the end of the one before", r.name(i)))
	}
	doubts := 0 // replacements that may be meant differently
	for _, rule := range r.rules.List {
		if doubt := rule.Template.Doubt(); doubt != "" && doubts < nearestTexts {
			texts = append(texts, errors.New(doubt))
			doubts++
		}
	}
	if len(texts) > 0 {
		c.Warnf("%v", worded.Join(texts, "; "))
	}
}

// name returns the text that a replacement looks for, with its parameter.
func (r *replacing) name(i int) wording.Part {
	text := quoted(r.rules.List[i].Pattern.Source())
	return wording.Part{Kind: r.names, Value: text, Text: r.labels[i] + " " + text}
}

// missing returns the places where a replacement matched nothing, with the nearest lines.
func (r *replacing) missing(ctx context.Context, c *Call, files []string, i int, budget *int) string {
	text := files[0]
	if len(files) > 1 {
		text = fmt.Sprintf("%d files", len(files))
	}
	pattern := r.rules.List[i].Pattern
	if pattern.Mode() == match.Structural {
		if hole := pattern.Warning(); hole != "" {
			text += "; " + hole
		}
		return text
	}
	var plain *match.Pattern
	if pattern.Mode() == match.Regex {
		// A regular expression has no near matches, but people often mean its quoted text.
		var err error
		if plain, err = match.Compile(pattern.Source(), match.Literal, match.Flags{}); err != nil {
			return text
		}
	}
	left := nearestHints
	for _, file := range files[:min(len(files), nearestFiles)] {
		if info, err := c.FS.Stat(file); err == nil && info.Size() > int64(*budget) {
			*budget = -1 // not to be read for nothing
			break
		}
		data, err := c.readFile(file)
		if err != nil {
			continue // it was just read: the step's own error reports this
		}
		if *budget -= len(data); *budget < 0 {
			break
		}
		if plain != nil {
			if found, err := plain.Contains(ctx, data); found && err == nil {
				return text + "; it occurs as plain text in " + file +
					": write \\ before characters that are meant as themselves"
			}
			continue
		}
		if line := appliedAt(data, r.fresh[i]); line > 0 {
			return text + fmt.Sprintf("; already applied: the new text is in %s, line %d", file, line)
		}
		for _, h := range match.Nearest(data, pattern.Source(), left) {
			text += fmt.Sprintf("; nearest is %s:%d, which %s: %s", file, h.Line, h.Why, h.Text)
			left--
		}
		if left == 0 {
			break
		}
	}
	return text
}

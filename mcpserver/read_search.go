package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/wording"
)

// The outputs of a search.
const (
	outputFiles = "files"
	outputCount = "count"
)

// search finds lines. A regular expression that matches nothing is also searched as plain text, because a model that
// writes f(x) may mean the text.
func (r *reading) search(ctx context.Context) (*answer, error) {
	mode := r.args.PatternMode
	if mode == "" {
		mode = "auto"
	}
	if err := r.each(ctx, r.searching(mode)); err != nil {
		return nil, err
	}
	if mode == "auto" && r.regex && r.matches() == 0 {
		regex, notes := r.entries, r.notes
		r.notes = nil
		if err := r.each(ctx, r.searching("literal")); err != nil {
			return nil, err
		}
		if r.matches() == 0 {
			r.entries, r.notes = regex, notes
		} else {
			r.note(fmt.Sprintf("pattern %q was read as a text, for as a regular expression it matches nothing; "+
				"set pattern_mode to say which is meant", *r.args.Pattern))
		}
	}
	if mode == "auto" && r.matches() == 0 && strings.Contains(*r.args.Pattern, ":[") {
		r.note("nothing matches; if :[ begins a hole, set pattern_mode to structural")
	}
	return r.answer()
}

func (r *reading) matches() int {
	all := 0
	for _, e := range r.entries {
		if e.Matches != nil {
			all += *e.Matches
		}
	}
	return all
}

// searching searches one path.
func (r *reading) searching(mode string) func(context.Context, string, *fileRead) error {
	return func(ctx context.Context, path string, e *fileRead) error {
		params := map[string]any{"pattern": *r.args.Pattern, "mode": mode, "ignore_case": true, "path": path}
		if r.args.Include != nil {
			params["include"] = r.args.Include
		}
		if r.args.Output != outputFiles && r.args.Output != outputCount {
			params["lines"], params["context_lines"] = true, defaultContext
			if r.args.Context != nil {
				params["context_lines"] = *r.args.Context
			}
		}
		step, err := r.look(ctx, "search", params)
		if err != nil {
			return err
		}
		for _, w := range step.Warnings {
			r.note(w)
		}
		for _, l := range step.LeftOut {
			if l.Reason == actions.LeftOutBinary { // the other reasons have warnings
				r.note("left out: " + l.String())
			}
		}
		r.regex = r.regex || step.Mode == "regex"
		matches, files := 0, len(step.FilesMatched)
		for _, n := range step.Counts {
			matches += n
		}
		e.Matches, e.Files = &matches, &files
		e.fill(r.found(step, path, e), 0, r.room)
		return nil
	}
}

// wordOf returns a part of a message in the words of the tool fs_read, whose parameters have their own names.
func wordOf(p wording.Part) string {
	if p.Kind == "set_mode" {
		return "set pattern_mode to say which is meant"
	}
	return p.Text
}

// found returns what a search shows: the lines of each file below its name, the names, or the names with counts. If the
// path is a file, its name is not repeated.
func (r *reading) found(step millrace.StepResult, path string, e *fileRead) string {
	var b strings.Builder
	left := r.args.Limit
	take := func() bool {
		left--
		if r.args.Limit > 0 && left < 0 {
			e.Truncated = true
			return false
		}
		return true
	}
	single := len(step.FilesMatched) == 1 && step.FilesMatched[0] == r.canonical(path)
	for i, name := range step.FilesMatched {
		switch r.args.Output {
		case outputFiles:
			if !take() {
				return b.String()
			}
			b.WriteString(visible(name) + "\n")
			continue
		case outputCount:
			if !take() {
				return b.String()
			}
			fmt.Fprintf(&b, "%d %s\n", step.Counts[name], visible(name))
			continue
		}
		if r.args.Limit > 0 && left <= 0 {
			e.Truncated = true
			return b.String()
		}
		if !single {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(visible(name) + "\n")
		}
		for line := range strings.Lines(step.Content[name]) {
			if isMatch(line) && !take() {
				return b.String()
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// isMatch reports whether a line of a search contains a match, and is not a line of context.
func isMatch(line string) bool {
	rest, ok := strings.CutPrefix(line, "Line ")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "0123456789"), ":")
}

package actions

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace/internal/match"
)

// PatternEdit is a regular expression of a [RegexTransform] with its replacement.
type PatternEdit struct {
	Pattern     string `json:"pattern" param:"required" doc:"Regular expression (RE2 syntax). ^ and $ match at line ends, \\A and \\z at the ends of the file."`
	Replacement string `json:"replacement" param:"required,empty" doc:"Replacement of a match; empty deletes. $1, ${1} and ${name} are groups, $0 the match, $$ a dollar sign; backslashes begin escapes such as \\n and \\U."`
	Flags       string `json:"flags,omitempty" doc:"Letters: i (ignore case), s (. matches newlines), m (always on)."`
}

// RegexTransform replaces matches of regular expressions in files. The patterns are applied in order, each to the
// result of the one before.
//
// A pattern is matched over the whole file; \s and [^x] also match line ends. ^ and $ are the ends of lines, and no
// line begins after the last line end. Unless the pattern itself contains \r, "\r\n" counts as one line end, as in a
// literal [Edit]: "\n" matches it, "." does not match its "\r", $ matches before it, and the "\n" of the replacement
// become the line ends of the file. Only the bytes of the matches change. A replacement such as $1x, which means a
// group "1x", and unknown groups are refused before anything runs.
type RegexTransform struct {
	Files    []string      `json:"files,omitempty" doc:"Files to transform. Leave it out if an earlier step gives them."`
	Patterns []PatternEdit `json:"patterns" param:"required" doc:"The regular expressions and their replacements, in order."`
	Encoding string        `json:"encoding,omitempty" enum:"utf-8,auto,utf-16le,utf-16be,latin1" doc:"Encoding of the files; auto detects UTF-16 by its byte order mark. Default: utf-8."`
	OnError  string        `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
	Binary   bool          `json:"binary,omitempty" doc:"Also edit binary files."`
}

// Spec implements [Action].
func (RegexTransform) Spec() Spec {
	return Spec{Name: "regex_transform", Summary: "Replace matches of regular expressions in files", Input: InputFiles}
}

// Validate implements [Validator].
func (r RegexTransform) Validate(c *Check) {
	if len(r.Patterns) > maxEdits {
		c.Problemf("/patterns", codeTooMany, "split the step",
			"too many patterns (max %d, got %d)", maxEdits, len(r.Patterns))
		return
	}
	size := 0
	for i, e := range r.Patterns {
		at := fmt.Sprintf("/patterns/%d", i)
		if c.Templated(e.Flags) {
			continue
		}
		flags, err := match.ParseFlags(e.Flags)
		if err != nil {
			c.Problemf(at+"/flags", codeBadFlags, "", "%s", err.Error())
			continue
		}
		p := checkPattern(c, at+"/pattern", e.Pattern, "regex", match.Regex, flags)
		checkTemplate(c, at+"/replacement", e.Replacement, p)
		if p != nil {
			size += p.Size()
		}
	}
	if err := checkSizes(size); err != nil {
		c.problem("/patterns", codeBadPattern, err)
	}
}

// Touches implements [Toucher].
func (r RegexTransform) Touches() (reads, writes []string, known bool) { return r.Files, r.Files, true }

// Run implements [Action]. The outcome is like the outcome of [Edit].
func (r RegexTransform) Run(ctx context.Context, c *Call) (Outcome, error) {
	work := replacing{binary: r.Binary, onError: r.OnError}
	var err error
	if work.charset, err = encodingOf(r.Encoding); err != nil {
		return Outcome{}, err
	}
	for i, e := range r.Patterns {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		flags, err := match.ParseFlags(e.Flags)
		if err == nil {
			err = work.add(c, fmt.Sprintf("pattern %d", i), e.Pattern, "regex", flags, e.Replacement)
		}
		if err != nil {
			return Outcome{}, err
		}
	}
	return work.run(ctx, c)
}

package actions

import (
	"context"
	"errors"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/match"
)

// CountOccurrences counts the matches of a pattern in files, without overlaps. The pattern is a literal text by
// default, see Mode. Binary files are counted too. A file beyond the host's limit is a *LimitError if the step names
// it, and is omitted with a warning if it comes from another step.
type CountOccurrences struct {
	Files      []string `json:"files,omitempty" doc:"Files to count in. Leave it out if an earlier step gives them."`
	Pattern    string   `json:"pattern" param:"required" doc:"Text, or a pattern as mode says."`
	Mode       string   `json:"mode,omitempty" enum:"literal,regex,structural" doc:"Kind of pattern; structural as in search. Default: literal."`
	Language   string   `json:"language,omitempty" doc:"Language of the files, in mode structural. Default: by their names."`
	IgnoreCase bool     `json:"ignore_case,omitempty" doc:"Ignore the case of letters."`
	Encoding   string   `json:"encoding,omitempty" enum:"utf-8,auto,utf-16le,utf-16be,latin1" doc:"Encoding of the files; auto detects UTF-16 by its byte order mark. Default: utf-8."`
}

// Spec implements [Action].
func (CountOccurrences) Spec() Spec {
	const summary = "Count the matches of a text or a regular expression in files"
	return Spec{Name: "count_occurrences", Summary: summary, ReadOnly: true, Input: InputFiles}
}

// Validate implements [Validator].
func (o CountOccurrences) Validate(c *Check) {
	checkPattern(c, "/pattern", o.Pattern, o.Mode, match.Literal, o.flags())
	checkLanguage(c, o.Language, o.Mode == structuralMode || c.Templated(o.Mode))
}

func (o CountOccurrences) flags() match.Flags {
	return match.Flags{IgnoreCase: o.IgnoreCase, Language: o.Language}
}

// Touches implements [Toucher].
func (o CountOccurrences) Touches() (reads, writes []string, known bool) { return o.Files, nil, true }

// Run implements [Action]. The outcome has all files, also those without matches, and their counts.
func (o CountOccurrences) Run(ctx context.Context, c *Call) (Outcome, error) {
	p, err := c.compilePattern("pattern", o.Pattern, o.Mode, match.Literal, o.flags())
	if err != nil {
		return Outcome{}, err
	}
	encoding, err := encodingOf(o.Encoding)
	if err != nil {
		return Outcome{}, err
	}
	const large = -1
	counts := make([]int, len(c.Files))
	err = c.Each(ctx, c.Files, func(ctx context.Context, i int, file string) error {
		err := c.look(file, c.Limits.FileBytes(), nil, func(text *source) error {
			_, err := inEncoding(encoding, text, nil, func(text match.Content) (_ []change.Splice, err error) {
				counts[i], err = p.Count(ctx, text, match.How{Sizes: c.sizes, Name: file})
				return nil, limitOfSteps(err)
			})
			return err
		})
		if tooLarge, ok := errors.AsType[*LimitError](err); ok && len(c.Inputs) > 0 {
			c.Warnf("%s: left out, larger than %d bytes", file, tooLarge.Limit)
			counts[i] = large
			return nil
		}
		return fileError(file, err)
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Counts: make(map[string]int, len(c.Files))}
	for i, file := range c.Files {
		if counts[i] != large {
			out.Files = append(out.Files, file)
			out.Counts[file] = counts[i]
		}
	}
	return out, nil
}

package actions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// The codes of the problems that the built-in actions report.
const (
	codeBadPattern     = "bad_pattern"
	codeBadReplacement = "bad_replacement"
	codeBadFlags       = "bad_flags"
	codeBadGlob        = "bad_glob"
	codeBadScript      = "bad_script"
	codeBadRange       = "bad_range"
	codeBadTarget      = "bad_target"
	codeMissingParam   = "missing_param"
	codeTooMany        = "too_many"
	codeUnusedParam    = "unused_param"
	codeSamePath       = "same_path"
	codeBadHash        = "bad_hash"
	codeEscape         = "escape"
	codeBadMode        = "bad_mode"
	codeBadLanguage    = "bad_language"
	codeForeignHole    = "foreign_hole"
)

// maxStepInstructions bounds the programs of all regular expressions of a step. An instruction needs about 300 bytes.
const maxStepInstructions = 500_000

// checkPattern reports problems of a pattern, and returns a pattern without problems. The tags of the parameters
// check for empty patterns and unknown modes. Nothing is compiled, because compiling can be slow and may not be needed.
func checkPattern(c *Check, param, pattern, mode string, byDefault match.Mode, flags match.Flags) *match.Parsed {
	m, err := match.ParseMode(mode, byDefault)
	flags.Lines = true
	if err != nil || pattern == "" || c.Templated(pattern) || c.Templated(mode) {
		return nil
	}
	if m != match.Structural || c.Templated(flags.Language) || match.CheckLanguage(flags.Language) != nil {
		flags.Language = "" // the check of the parameter reports it
	}
	p, err := match.Parse(pattern, m, flags)
	if err != nil {
		c.problem(param, codeBadPattern, err)
		return nil
	}
	if warning := p.Warning(); warning != "" {
		c.Warnings = append(c.Warnings, Problem{Param: param, Code: codeForeignHole, Message: warning})
	}
	c.keep(patternKey{pattern, m, flags}, p)
	return p
}

// structuralMode is the mode of patterns that are compared token by token.
const structuralMode = "structural"

// checkLanguage reports a language that is unknown, or not needed.
func checkLanguage(c *Check, language string, structural bool) {
	if language == "" || c.Templated(language) {
		return
	}
	if !structural {
		c.Problemf("/language", codeUnusedParam, "leave it out, or read the pattern as a structural one",
			"language is for structural patterns")
	} else if err := match.CheckLanguage(language); err != nil {
		c.Problemf("/language", codeBadLanguage, "leave it out to go by the name of each file", "%s", err.Error())
	}
}

// limitOfSteps returns the error of a structural pattern that needs too many steps as a *LimitError.
func limitOfSteps(err error) error {
	e, ok := errors.AsType[*match.StepsError](err)
	switch {
	case !ok:
		return err
	case e.Text:
		return &LimitError{What: kinds.LimitText, Limit: e.Limit}
	}
	return &LimitError{What: kinds.LimitSteps, Limit: e.Limit}
}

// maxKept is the total size, in instructions, of the regular expressions that a step of a checked pipeline keeps for
// its runs: some megabytes for a pipeline. A larger expression is parsed again.
const maxKept = 20_000

// keptPatterns are the patterns that Validate has parsed, for Run.
type keptPatterns struct {
	parsed map[patternKey]*match.Parsed
	size   int
}

type patternKey struct {
	pattern string
	mode    match.Mode
	flags   match.Flags
}

// keep keeps a pattern for Run, unless it is compared byte by byte, because such a pattern costs nothing.
func (c *Check) keep(key patternKey, p *match.Parsed) {
	if p.Size() == 0 {
		return
	}
	kept, _ := c.Keep.(*keptPatterns)
	if kept == nil {
		kept = &keptPatterns{parsed: make(map[patternKey]*match.Parsed)}
	}
	if kept.size+p.Size() > maxKept {
		return
	}
	kept.parsed[key] = p
	kept.size += p.Size()
	c.Keep = kept
}

// checkTemplate reports problems of the replacement for a pattern that compiles.
func checkTemplate(c *Check, param, replacement string, p *match.Parsed) {
	if p == nil || c.Templated(replacement) {
		return
	}
	t, err := match.ParseTemplate(replacement, p)
	if err != nil {
		c.problem(param, codeBadReplacement, err)
		return
	}
	if escape, meaning := t.Escape(); escape != "" {
		c.Warnings = append(c.Warnings, Problem{
			Param: param, Code: codeEscape, Hint: `write \` + escape + " for the text",
			Message: fmt.Sprintf("%s in replacement %s is %s", escape, quoted(replacement), meaning),
		})
	}
}

// checkSizes returns a *match.PatternError if the regular expressions have too many instructions for one step.
func checkSizes(together int) error {
	if together <= maxStepInstructions {
		return nil
	}
	return &match.PatternError{
		Msg: fmt.Sprintf("the regular expressions are too large together (max %d instructions, got %d)",
			maxStepInstructions, together),
		Hint: "split the step, or use smaller numbers in repetitions such as {1000}",
	}
}

func (c *Check) problem(param, code string, err error) {
	p := Problem{Param: param, Code: code, Message: err.Error()}
	if e, ok := errors.AsType[*match.PatternError](err); ok && e.Hint != "" {
		p.Hint, p.Err = e.Hint, worded.Errorf("%w: %v", err, e.Advice())
	}
	c.Problems = append(c.Problems, p)
}

// problemOf adds a problem whose message has parts.
func (c *Check) problemOf(param, code, hint string, message error) {
	p := Problem{Param: param, Code: code, Message: message.Error(), Hint: hint, Err: message}
	if hint != "" {
		p.Err = worded.Errorf("%w: %s", message, hint)
	}
	c.Problems = append(c.Problems, p)
}

// compilePattern compiles a pattern whose templates are expanded.
func (c *Call) compilePattern(
	param, pattern, mode string, byDefault match.Mode, flags match.Flags,
) (*match.Pattern, error) {
	m, err := match.ParseMode(mode, byDefault)
	flags.Lines = true
	if err != nil {
		return nil, err
	}
	if err := c.Limits.checkPattern(pattern); err != nil {
		return nil, worded.Errorf("%v: %w", wording.Part{Kind: kinds.Param, Text: param, Value: param}, err)
	}
	var parsed *match.Parsed
	if kept, ok := c.Kept.(*keptPatterns); ok {
		parsed = kept.parsed[patternKey{pattern, m, flags}]
	}
	if parsed == nil {
		parsed, err = match.Parse(pattern, m, flags)
	}
	if errors.Is(err, match.ErrEmpty) {
		return nil, fmt.Errorf("%s cannot be empty", param)
	}
	if err != nil {
		return nil, withHint(err)
	}
	p, err := parsed.Compile()
	return p, withHint(err)
}

func withHint(err error) error {
	if e, ok := errors.AsType[*match.PatternError](err); ok && e.Hint != "" {
		return worded.Errorf("%w (%v)", err, e.Advice())
	}
	return err
}

// quoted returns a text for a message, shortened if it is long.
func quoted(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(s[:most], ""))
	}
	return fmt.Sprintf("%q", s)
}

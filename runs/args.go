package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// The codes of problems with arguments, in addition to the codes of step parameters. They are stable.
const (
	codeInvalidJSON = "invalid_json"
	codeLargeJSON   = "json_too_large"
	codeDeepJSON    = "json_too_deep"
	codeNoAction    = "missing_action"
	codeBadAction   = "unknown_action"
	codeMisplaced   = "misplaced_param"
	codeTwoForms    = "two_forms"
	codeBadVariable = "invalid_variable"
)

// ArgsError is a mistake of the caller: it lists every problem with the arguments of a command, a filter or the
// variables of a run. If there are more than a hundred, a last problem with the code "too_many_problems" counts the
// rest. Nothing was done. errors.As also finds a *[millrace.ValidationError] in it.
type ArgsError struct {
	// Tool is the name of the command, "" for arguments from Go.
	Tool string
	// Problems have pointers into the arguments, and lines of the command's text.
	Problems []millrace.Problem
}

// Error returns the single problem, or all problems, one per line.
func (e *ArgsError) Error() string {
	if len(e.Problems) == 1 {
		return textOf(e.Problems[0])
	}
	var b strings.Builder
	if e.Tool != "" {
		b.WriteString(e.Tool + ": ")
	}
	fmt.Fprintf(&b, "%d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  - " + textOf(p))
	}
	return b.String()
}

// MarshalJSON returns the JSON of [millrace.DescribeError].
func (e *ArgsError) MarshalJSON() ([]byte, error) { return json.Marshal(millrace.DescribeError(e)) }

// textOf returns the message and the hint. Messages about arguments already name the place.
func textOf(p millrace.Problem) string {
	if strings.HasPrefix(p.Pointer, definitionAt) {
		return p.String()
	}
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + ": " + p.Hint
}

// Unwrap returns the problems in the form for a pipeline.
func (e *ArgsError) Unwrap() error { return &millrace.ValidationError{Problems: e.Problems} }

// mostProblems is the number of problems that are listed.
const mostProblems = 100

// collector collects problems. at returns the line and column of a value, if there is a text.
type collector struct {
	problems []millrace.Problem
	dropped  int
	at       func(offset int) (line, column int)
	offset   int // of the value being checked
}

func (c *collector) add(pointer, code, hint, format string, args ...any) {
	p := millrace.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
	if c.at != nil {
		p.Line, p.Column = c.at(c.offset)
	}
	c.take(p)
}

func (c *collector) take(p millrace.Problem) {
	if c.isFull() {
		c.dropped++
		return
	}
	c.problems = append(c.problems, p)
}

// isFull reports whether further problems are only counted, so that no hint has to be found for them.
func (c *collector) isFull() bool { return len(c.problems) >= mostProblems }

// err returns the problems as an error, nil if there are none.
func (c *collector) err(tool string) error {
	if len(c.problems) == 0 {
		return nil
	}
	list := slices.Clip(c.problems)
	if c.dropped > 0 {
		list = append(list,
			millrace.Problem{Code: params.CodeTooMany, Message: fmt.Sprintf("%d more problems", c.dropped)})
	}
	return &ArgsError{Tool: tool, Problems: list}
}

// within checks a number.
func (c *collector) within(name string, n, least, most int64) bool {
	if n >= least && n <= most {
		return true
	}
	c.outside(name, fmt.Sprint(n), least, most)
	return false
}

func (c *collector) outside(name, got string, least, most int64) {
	c.add("/"+name, params.CodeOutOfRange, "", "%s must be %d to %d, got %s", name, least, most, shown(got))
}

// word checks that a text is in a list of words.
func (c *collector) word(name, text string, all []string) bool {
	if slices.Contains(all, text) {
		return true
	}
	c.add("/"+name, params.CodeBadEnum, c.meant(text, all), "%s '%s' is not one of %s", nameOf(name), shown(text),
		strings.Join(all, ", "))
	return false
}

// meant returns a hint with the word that was probably meant, "" if not found.
func (c *collector) meant(text string, all []string) string {
	if c.isFull() {
		return ""
	}
	if near, ok := synonyms.Suggest(text, all); ok {
		return "did you mean '" + near + "'?"
	}
	return ""
}

// digits is the form of a digest in a filter. It is not compiled, because compiling would delay every program that
// imports this package.
const digits = "^[0-9a-fA-F]{7,64}$"

func (c *collector) sha(text string) bool {
	if len(text) >= 7 && len(text) <= 64 && strings.Trim(text, "0123456789abcdefABCDEF") == "" {
		return true
	}
	c.add("/sha", params.CodeBadValue, "", "sha must be 7 to 64 hexadecimal digits, got '%s'", shown(text))
	return false
}

// nameOf returns the name in messages for a pointer without its first slash: "variables/0/key" is "variables[0].key".
func nameOf(pointer string) string {
	var b strings.Builder
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case i > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// words returns texts of a type as strings.
func words[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, w := range list {
		all[i] = string(w)
	}
	return all
}

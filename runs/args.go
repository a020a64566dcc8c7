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

// The codes of problems with arguments that are not those of parameters of steps. They are stable.
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

// ArgsError is the caller's fault: it lists every problem with the arguments of a command, a filter or the variables of
// a run. Of more than a hundred a last one with the code "too_many_problems" counts the rest. Nothing was done. It is a
// *[millrace.ValidationError] for errors.As.
type ArgsError struct {
	// Tool is the name of the command, "" for arguments that were given in Go.
	Tool string
	// Problems have pointers into the arguments. Lines are those of the text of the command.
	Problems []millrace.Problem
}

// Error returns the one problem, or all of them a line each.
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

// MarshalJSON gives what [millrace.DescribeError] returns.
func (e *ArgsError) MarshalJSON() ([]byte, error) { return json.Marshal(millrace.DescribeError(e)) }

// textOf returns the message and the hint. Messages of arguments name the place themselves.
func textOf(p millrace.Problem) string {
	if strings.HasPrefix(p.Pointer, definitionAt) {
		return p.String()
	}
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + ": " + p.Hint
}

// Unwrap returns the problems as those of a pipeline are.
func (e *ArgsError) Unwrap() error { return &millrace.ValidationError{Problems: e.Problems} }

// mostProblems is how many problems are listed.
const mostProblems = 100

// collector collects problems. at turns the place of a value into line and column, if there is a text.
type collector struct {
	problems []millrace.Problem
	dropped  int
	at       func(offset int) (line, column int)
	offset   int // of what is being checked
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

// word checks a text that has to be in a list of words.
func (c *collector) word(name, text string, all []string) bool {
	if slices.Contains(all, text) {
		return true
	}
	c.add("/"+name, params.CodeBadEnum, c.meant(text, all), "%s '%s' is not one of %s", nameOf(name), shown(text),
		strings.Join(all, ", "))
	return false
}

// meant returns the hint to the word that was probably meant, "" if there is none.
func (c *collector) meant(text string, all []string) string {
	if c.isFull() {
		return ""
	}
	if near, ok := synonyms.Suggest(text, all); ok {
		return "did you mean '" + near + "'?"
	}
	return ""
}

// digits are what a filter for a digest takes. It is not compiled, for each program that imports this package would
// wait.
const digits = "^[0-9a-fA-F]{7,64}$"

func (c *collector) sha(text string) bool {
	if len(text) >= 7 && len(text) <= 64 && strings.Trim(text, "0123456789abcdefABCDEF") == "" {
		return true
	}
	c.add("/sha", params.CodeBadValue, "", "sha must be 7 to 64 hexadecimal digits, got '%s'", shown(text))
	return false
}

// nameOf returns how messages call what a pointer without its first slash leads to: "variables/0/key" is
// "variables[0].key".
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

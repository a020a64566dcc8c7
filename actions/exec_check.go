package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/show"
)

// The codes of problems with the parameters of exec.
const (
	codeBadCommand = "bad_command"
	codeBadDir     = "bad_dir"
	codeBadEnv     = "bad_env"
	codeBadStdin   = "bad_stdin"
)

// mostKept is the largest max_output, in bytes.
const mostKept = 1 << 30

// Validate implements [Validator]. It does not check whether the host allows the command.
func (a Exec) Validate(c *Check) {
	a.checkWords(c)
	if a.Dir != "" && !c.Templated(a.Dir) {
		if _, err := fsutil.Clean(a.Dir); err != nil || filepath.IsAbs(a.Dir) {
			c.Problemf("/dir", codeBadDir, "give it relative to the root of the tree", "dir '%s' is not in the tree",
				show.Pattern(a.Dir))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			c.Problemf("/env", codeBadEnv, "", "env has the name '%s', which no variable can have",
				fsutil.Visible(show.Pattern(name)))
		} else if strings.Contains(a.Env[name], "\x00") {
			c.Problemf("/env/"+PointerToken(name), codeBadEnv, "", "env has a NUL in the value of '%s'",
				fsutil.Visible(show.Pattern(name)))
		}
	}
	if text, ok := a.Stdin.(string); a.Stdin != nil && !c.bound("/stdin") && !(ok && c.Templated(text)) {
		if err := checkStdin(a.Stdin, c.Templated); err != nil {
			c.problem("/stdin", codeBadStdin, err)
		}
	}
	for i, code := range a.OKCodes {
		if at := "/ok_codes/" + strconv.Itoa(i); (code < 0 || code > 255) && !c.bound(at) {
			c.Problemf(at, codeBadRange, "", "ok_codes must be 0 to 255, got %d", code)
		}
	}
	checkGlobs(c, "/needs", a.Needs)
	checkGlobs(c, "/exclude", a.Exclude)
	checkGlobs(c, "/writes", a.Writes)
	if c.bound("/discard") {
		c.Problemf("/discard", codeBadRange, "write true or false",
			"discard cannot be a template, for the plan depends on it")
	}
	if a.Discard && (len(a.Writes) > 0 || a.NoIgnore) {
		at := "/writes"
		if len(a.Writes) == 0 {
			at = "/no_ignore"
		}
		c.Problemf(at, codeBadRange, "use one of them", "%s and discard exclude each other: discard drops all changes",
			at[1:])
	}
	if (a.MaxOutput < 0 || a.MaxOutput > mostKept) && !c.bound("/max_output") {
		c.Problemf("/max_output", codeBadRange, "", "max_output must be 1 to %d, got %d", mostKept, a.MaxOutput)
	}
}

// checkWords checks the program and its arguments.
func (a Exec) checkWords(c *Check) {
	hasCommand, hasShell := a.Command != "" || c.bound("/command"), a.Shell != "" || c.bound("/shell")
	switch {
	case hasCommand && hasShell:
		c.Problemf("/shell", codeBadCommand, "use one of them", "command and shell exclude each other")
	case !hasCommand && !hasShell:
		c.Problemf("/command", codeBadCommand, "name a program, or write a script into shell",
			"exec action requires 'command' or 'shell' parameter")
	case hasShell && len(a.Args) > 0:
		c.Problemf("/args", codeBadCommand, "write them into the script", "a script takes no args")
	}
	if program, rest, spaced := strings.Cut(a.Command, " "); spaced && len(a.Args) == 0 && rest != "" &&
		!c.Templated(a.Command) &&
		!strings.ContainsAny(program, `/\`) {
		c.Problemf("/command", codeBadCommand, "put the arguments into args, one word each",
			"command is the program alone, '%s' has arguments", show.Pattern(a.Command))
	}
	for i, word := range append([]string{a.Command, a.Shell}, a.Args...) {
		if strings.Contains(word, "\x00") {
			at := "/args/" + strconv.Itoa(i-2)
			if i < 2 {
				at = []string{"/command", "/shell"}[i]
			}
			c.Problemf(at, codeBadCommand, "", "the words of a command cannot have a NUL")
		}
	}
}

var errStdin = errors.New("stdin must be a string or a list of strings")

// checkStdin checks the input of a command. Nil means no input.
func checkStdin(stdin any, templated func(string) bool) error {
	switch v := stdin.(type) {
	case nil, string, []string:
		return nil
	case []any:
		for _, line := range v {
			if text, ok := line.(string); ok && templated(text) {
				continue
			}
			if _, err := stdinLines(line); err != nil {
				return err
			}
		}
		return nil
	}
	return errStdin
}

// stdinText returns the input of a command: a text unchanged, or lines.
func stdinText(stdin any) (string, error) {
	switch v := stdin.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	if err := checkStdinNames(stdin); err != nil {
		return "", err
	}
	lines, err := stdinLines(stdin)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// checkStdinNames refuses a line break within an element of a list that a template returned: the command would read one
// name as two.
func checkStdinNames(stdin any) error {
	list, ok := stdin.([]any)
	if !ok {
		return nil
	}
	for _, elem := range list {
		switch elem.(type) {
		case []any, []string:
		default:
			continue // the pipeline has written it itself
		}
		names, err := stdinLines(elem)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(names, func(name string) bool { return strings.ContainsRune(name, '\n') }); i >= 0 {
			return fmt.Errorf(
				"stdin has %q, which has a line break in it, so the command would take it for two lines: give it as an argument", names[i])
		}
	}
	return nil
}

// stdinLines returns the lines of a value. An element that a template has expanded to a list is a list in a list.
func stdinLines(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case bool, int, int64, float64, json.Number:
		return []string{fmt.Sprint(v)}, nil
	case []string:
		return v, nil
	case []any:
		var all []string
		for _, elem := range v {
			lines, err := stdinLines(elem)
			if err != nil {
				return nil, err
			}
			all = append(all, lines...)
		}
		return all, nil
	}
	return nil, errStdin
}

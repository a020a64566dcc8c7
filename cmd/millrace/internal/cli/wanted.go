package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/template"
)

// wanted is a command that a pipeline in a file wants to run, or an agent that it wants to ask.
type wanted struct {
	step string
	exec actions.Exec
	raw  bool // the step has no templates
	// allow is the pattern that allows the command when the user has agreed.
	allow string
	// agent is the name of the agent, "" for a command; asked is the prompt, and program is its command line.
	agent, asked string
	program      []string
	// values are the variables of the pipeline that have a value.
	values map[string]any
}

// references finds the references of a template. A reference after a backslash is text.
var references = regexp.MustCompile(`\\?\{\{\s*([\w-]+)[^{}\n]*\}\}`)

// expanded returns a text with the values of its variables, as they will be inserted.
func (w wanted) expanded(text string) string {
	if w.raw {
		return text
	}
	return references.ReplaceAllStringFunc(text, func(ref string) string {
		value, err := template.Resolve(ref, map[string]any{"vars": w.values})
		if err != nil || ref[0] == '\\' {
			return ref
		}
		inserted, err := template.Format(value)
		if err != nil {
			return ref
		}
		return inserted
	})
}

// words returns the words of the command, as far as they are known before it runs.
func (w wanted) words() []string {
	if w.raw {
		return w.exec.Words()
	}
	var words []string
	for _, word := range w.exec.Words() {
		whole := references.FindString(word) == word && word != ""
		value, err := template.Resolve(word, map[string]any{"vars": w.values})
		if list, ok := value.([]any); ok && whole && err == nil {
			for _, v := range list { // a list becomes several words
				text, err := template.Format(v)
				if err != nil {
					text = "?"
				}
				words = append(words, text)
			}
			continue
		}
		words = append(words, w.expanded(word))
	}
	return words
}

// unknown returns the sources of the references whose values are only known when the pipeline runs, "" if there are
// none.
func (w wanted) unknown(texts ...string) string {
	if w.raw {
		return ""
	}
	var from []string
	for _, text := range texts {
		for _, m := range references.FindAllStringSubmatch(text, -1) {
			source := fmt.Sprintf("%s from step '%s'", m[0], m[1])
			switch {
			case m[0][0] == '\\' || m[1] == "vars" && w.expanded(m[0]) != m[0]:
				continue
			case m[1] == "vars":
				source = m[0] + " from the variables"
			case m[1] == "prev":
				source = m[0] + " from the step before"
			case m[1] == "run":
				source = m[0] + " from the run"
			}
			if source = fsutil.Visible(source); !slices.Contains(from, source) {
				from = append(from, source)
			}
		}
	}
	if from == nil {
		return ""
	}
	return " (" + strings.Join(from, ", ") + ")"
}

// name returns the program.
func (w wanted) name() string {
	if w.agent != "" {
		return w.program[0]
	}
	return w.exec.Words()[0]
}

// line returns the command for the user, always as one line.
func (w wanted) line() string {
	if w.agent != "" {
		return fmt.Sprintf("step '%s' asks %s: %s", fsutil.Visible(w.step), command.Pattern(w.program...),
			fsutil.Visible(w.expanded(w.asked))) + w.unknown(w.asked)
	}
	text := command.Pattern(w.words()...)
	unknown := w.exec.Words()
	if w.exec.Stdin != nil {
		stdin, err := json.Marshal(w.exec.Stdin)
		if err != nil {
			stdin = []byte("?")
		}
		text += " < " + w.expanded(string(stdin))
		unknown = append(unknown, string(stdin))
	}
	return fmt.Sprintf("step '%s': %s", fsutil.Visible(w.step), fsutil.Visible(text)) + w.unknown(unknown...)
}

// flag returns the flag that allows the command, or the agent.
func (w wanted) flag() string {
	if w.agent != "" {
		return "--agent " + shellWord(w.agent)
	}
	return "--allow-exec " + shellWord(fsutil.Visible(w.pattern()))
}

// pattern returns the value of --allow-exec that allows the command.
func (w wanted) pattern() string {
	words := w.exec.Words()
	if w.exec.Shell != "" {
		return "/bin/sh -c *"
	}
	known := slices.IndexFunc(words, func(word string) bool { return !w.raw && strings.Contains(word, "{{") })
	if known < 0 {
		if text := command.Pattern(words...); len(text) <= mostTold && text == fsutil.Visible(text) {
			return text
		}
		known = 1 // the whole line is too long to type
	}
	return command.Pattern(words[:known]...) + " *"
}

// mostTold limits, in bytes, a command in a message that refuses it, and a pattern that the message proposes.
const mostTold = 500

// shownFile is the file of a pipeline as messages name it.
func shownFile(file string) string {
	if file == "-" {
		return "the pipeline in stdin"
	}
	return fsutil.Visible(file)
}

// notAllowedError refuses a pipeline in a file because of programs that the user has not allowed.
type notAllowedError struct {
	file  string
	wants []wanted
}

// Error returns a line for each command, and the flags that allow them.
func (e *notAllowedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run programs that you have not allowed", shownFile(e.file))
	var flags []string
	for _, w := range e.wants {
		fmt.Fprintf(&b, "\n  %s", actions.Short(w.line(), mostTold))
		if flag := w.flag(); !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	fmt.Fprintf(&b, "\nallow them with: %s", strings.Join(flags, " "))
	return b.String()
}

// shellWord quotes a word for a shell. A ~/ at its beginning stays unquoted.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-+=./,:@%", r)
	}
	rest, home := strings.CutPrefix(word, "~/")
	if rest != "" && strings.TrimLeftFunc(rest, plain) == "" {
		return word
	}
	quoted := "'" + strings.ReplaceAll(rest, "'", `'\''`) + "'"
	if home {
		return "~/" + quoted
	}
	return quoted
}

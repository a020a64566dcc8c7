package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
)

// wanted is a command that a pipeline in a file wants to run, or an agent that it wants to ask.
type wanted struct {
	step string
	exec actions.Exec
	// allow is the pattern that allows the command once the user has agreed.
	allow string
	// agent is the name of the agent, "" for a command; asked is the prompt, and program is its command line.
	agent, asked string
	program      []string
}

// name is the program.
func (w wanted) name() string {
	if w.agent != "" {
		return w.program[0]
	}
	return w.exec.Words()[0]
}

// line is the command as the user is shown it: one line, whatever is in it.
func (w wanted) line() string {
	if w.agent != "" {
		return fmt.Sprintf("step '%s' asks %s: %s", fsutil.Visible(w.step), command.Pattern(w.program...),
			fsutil.Visible(w.asked))
	}
	text := command.Pattern(w.exec.Words()...)
	if w.exec.Stdin != nil {
		stdin, err := json.Marshal(w.exec.Stdin)
		if err != nil {
			stdin = []byte("?")
		}
		text += " < " + string(stdin)
	}
	return fmt.Sprintf("step '%s': %s", fsutil.Visible(w.step), fsutil.Visible(text))
}

// flag is the flag that allows the command, or the agent.
func (w wanted) flag() string {
	if w.agent != "" {
		return "--agent " + shellWord(w.agent)
	}
	return "--allow-exec " + shellWord(fsutil.Visible(w.pattern()))
}

// pattern is the value of --allow-exec that allows the command.
func (w wanted) pattern() string {
	words := w.exec.Words()
	if w.exec.Shell != "" {
		return "/bin/sh -c *"
	}
	known := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "{{") })
	if known < 0 {
		if text := command.Pattern(words...); len(text) <= mostTold && text == fsutil.Visible(text) {
			return text
		}
		known = 1 // the whole line is not for typing
	}
	return command.Pattern(words[:known]...) + " *"
}

// mostTold is how many bytes of a command a message has that refuses it, and the most of a pattern that it proposes.
const mostTold = 500

// notAllowedError refuses a pipeline in a file that wants to run programs which the user has not allowed.
type notAllowedError struct {
	file  string
	wants []wanted
}

// Error has a line for each command, and the flags that allow them.
func (e *notAllowedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run programs that you have not allowed", e.file)
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

// shellWord returns a word as a shell takes it. A ~/ at its beginning stays what it is.
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

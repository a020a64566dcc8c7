package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
)

// phrase is what the engine writes about a parameter, and what a command of one line writes in its place.
type phrase struct {
	flag   string // the phrase is for commands with this flag; "" for all
	engine *regexp.Regexp
	prompt string
}

// noFile is the warning of a command whose globs or texts are in no file.
const noFile = "no file matched"

// phrases are tried in their order, each at its first place. They begin where a sentence of the engine does, so that no
// text which the user has typed is taken for one.
var phrases = []phrase{
	{"", regexp.MustCompile(`^step '\w+': `), ""},
	{"", regexp.MustCompile(`^(?:input step '\w+'|the input steps) matched no files$`), noFile},
	{"glob", regexp.MustCompile(`^no file below (.*) is one that include and file_types take$`), "no file below $1 is taken by -g and -t"},
	{"", regexp.MustCompile(`^no file below (.*) is one that include and file_types take$`), "no file below $1 matched"},
	{"", regexp.MustCompile(`that file_pattern (".*") takes$`), "that $1 takes"},

	{"encoding", regexp.MustCompile(`; encoding auto reads UTF-16$`), "; --encoding auto reads UTF-16"},
	{"", regexp.MustCompile(`; encoding auto reads UTF-16$`), "; millrace replace --encoding auto reads UTF-16"},
	{"encoding", regexp.MustCompile(`is UTF-16 text: use encoding auto$`), "is UTF-16 text: --encoding auto reads it"},
	{"", regexp.MustCompile(`is UTF-16 text: use encoding auto$`), "is UTF-16 text, which only millrace replace --encoding auto reads"},

	{"binary", regexp.MustCompile(`; set binary to edit them$`), "; --binary takes them"},
	{"", regexp.MustCompile(`access denied: the host has denied this path`), "access denied: --deny, --allow or the configuration keeps it out"},

	{"", regexp.MustCompile(`^old_text: pattern is too long`), "OLD is too long"},
	{"", regexp.MustCompile(`^sed_pattern: `), "script: "},
	{"", regexp.MustCompile(`^(matches of )?old_text (?:of the edits )?"`), `$1"`},
	{"", regexp.MustCompile(`; old_text (?:of the edits )?"`), `; "`},
	{"", regexp.MustCompile(`; matches of old_text (?:of the edits )?"`), `; matches of "`},
	{"regex", regexp.MustCompile(`, or set mode to "literal"$`), ", or leave out -r"},

	{"", regexp.MustCompile(`^'to' `), "DEST "},
	{"", regexp.MustCompile(`, or destination$`), ", or a directory"},
	{"", regexp.MustCompile(`^destination '`), "DEST '"},
	{"", regexp.MustCompile(`; write it as 'to' for that, or with a slash at its end$`), "; write a slash at its end"},
	{"", regexp.MustCompile(`; this is the name of a file: globs work in include of search and in file_pattern of pattern_replace$`),
		"; this is the name of a file, not a glob"},
	{"recursive", regexp.MustCompile(`; set recursive to delete it with all that is in it$`), "; -r deletes it with all that is in it"},

	{"overwrite", regexp.MustCompile(`; set overwrite to replace it\b`), "; --overwrite replaces it"},
	{"path", regexp.MustCompile(`, or set path\b`), ", or name it with --path"},
	{"strip", regexp.MustCompile(`\bset strip, or write --- and \+\+\+`), "use --strip, or write --- and +++"},
	{"strip", regexp.MustCompile(`(: )set strip$`), "${1}use a smaller --strip"},
	{"strip", regexp.MustCompile(`, so set strip to 0\b`), ", so use --strip 0"},
	{"recount", regexp.MustCompile(`, or apply it with recount if it is whole`), ", or use --recount if it is whole"},
	{"path", regexp.MustCompile(`\buse edit_files for text that has such lines`), "write a unified diff for text that has such lines"},
	{"", regexp.MustCompile(`^'(fuzz|reverse|recount)' is for unified`), "--$1 is for unified"},
	{"nearest", regexp.MustCompile(`^'ambiguous' is for unified`), "--nearest is for unified"},
	{"", regexp.MustCompile(`^(fuzz|strip) is (-?\d+), and can`), "--$1 is $2, and can"},
	{"", regexp.MustCompile(`: use edit or pattern_replace$`), ": use millrace replace or sed"},

	{"", regexp.MustCompile(`^the host does not allow the command ('.*'): there is no such program in its PATH: install it.*$`),
		"$1: there is no such program in your PATH"},
	{"", regexp.MustCompile(`\bbring back less with writes, or have the host raise MaxChangedFiles$`), "have it change less"},
	{"", regexp.MustCompile(`: use needs or exclude, or have the host raise MaxScratch\w+$`), ": use -C for a directory in it"},
	{"", regexp.MustCompile(`, or have the host raise Max\w+(?:, or MaxOutputBytes where that is less)?$`), ""},
}

// words returns the message of an error in the words of the prompt. A command of one line has no steps that its user
// has seen, and what a parameter does is done by a flag.
func (a *App) words(err error) string {
	text := err.Error()
	step, isStep := errors.AsType[*millrace.StepError](err)
	if isStep = isStep && a.oneLiner != nil; isStep {
		text = step.Err.Error()
	}
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); ok && !blocked.Host && blocked.Why != "" {
		text = strings.Replace(text, blocked.Reason, blocked.Why, 1)
	}
	if errors.Is(err, capability.ErrMountPoint) && !a.flags.inPlace {
		text += "; --in-place overwrites the bytes of such a file"
	}
	if failed, ok := errors.AsType[*actions.CommandError](err); ok && failed.Refused != nil {
		_, host, _ := strings.Cut(failed.Refused.String(), ": the host")
		text = strings.Replace(text, ": the host"+host, "", 1)
	}
	if a.oneLiner == nil {
		return text
	}
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		return a.problems(invalid)
	}
	if errors.Is(err, actions.ErrBinary) {
		advice := "is a binary file; millrace do edit … binary=true edits it"
		if a.oneLiner.Flags().Lookup("binary") != nil {
			advice = "is a binary file; --binary takes it"
		}
		text = strings.Replace(text, actions.ErrBinary.Error(), advice, 1)
	}
	if inTheWay(err) {
		text += "; --overwrite replaces what is there"
	}
	text = a.spoken(text)
	if isStep {
		return a.oneLiner.Name() + " failed: " + text
	}
	return text
}

// problems returns a line for each problem of a pipeline, which the user has typed as a command of one line.
func (a *App) problems(invalid *millrace.ValidationError) string {
	var lines []string
	for _, p := range invalid.Problems {
		line := p.Message
		if p.Hint != "" {
			line += ": " + p.Hint
		}
		if line = a.spoken(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// inTheWay reports whether an error is about files that --overwrite replaces. It replaces no links and no directories.
func inTheWay(err error) bool {
	collision, ok := errors.AsType[*actions.CollisionError](err)
	return ok &&
		slices.ContainsFunc(collision.Collisions,
			func(c actions.Collision) bool { return c.Reason == "exists already" })
}

// spoken returns a message of the engine in the words of the prompt.
func (a *App) spoken(text string) string {
	if a.oneLiner == nil {
		return text
	}
	for _, p := range phrases {
		if p.flag != "" && a.oneLiner.Flags().Lookup(p.flag) == nil {
			continue
		}
		if at := p.engine.FindStringSubmatchIndex(text); at != nil {
			text = text[:at[0]] + string(p.engine.ExpandString(nil, p.prompt, text, at)) + text[at[1]:]
		}
	}
	return text
}

// counted returns a number with its word, in the plural where it is not one.
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

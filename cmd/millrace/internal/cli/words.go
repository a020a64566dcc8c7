package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/wording"
)

// noFile is the warning of a command if no file matches its globs or texts.
const noFile = "no file matched"

// phrase is a part of a message in the words of the command line. A %s in the text is the value of the part.
type phrase struct {
	flag string // the phrase is for commands with this flag; "" for all
	text string
}

// phrases replaces parts of messages that the engine words for authors of pipelines. The first phrase whose flag the
// command has is used. A missing kind keeps the words of the engine.
var phrases = map[wording.Kind][]phrase{
	"edit_text":    {{"", "%s"}},
	"file_pattern": {{"", "%s"}},
	"in_step":      {{"", ""}},

	"no_files":   {{"", noFile}},
	"none_taken": {{"glob", "no file below %s is taken by -g and -t"}, {"", "no file below %s matched"}},
	"denied":     {{"", "--deny, --allow or the configuration keeps it out"}},
	"no_program": {{"", "'%s': there is no such program in your PATH"}},
	"install":    {{"", ""}},

	"read_utf16": {
		{"encoding", "--encoding auto reads UTF-16"}, {"", "millrace replace --encoding auto reads UTF-16"},
	},
	"utf16_refused": {
		{"encoding", ": --encoding auto reads it"}, {"", ", which only millrace replace --encoding auto reads"},
	},
	"take_binary": {{"binary", "--binary takes them"}},
	"edit_binary": {{"binary", "--binary takes it"}, {"", "millrace do edit … binary=true edits it"}},
	"set_literal": {{"regex", ", or leave out -r"}},

	"use_destination": {{"", "a directory"}},
	"write_to":        {{"", "write a slash at its end"}},
	"glob_name":       {{"", ", not a glob"}},
	"set_recursive":   {{"recursive", "-r deletes it with all that is in it"}},
	"set_overwrite":   {{"overwrite", "--overwrite replaces it"}, {"", "this command does not replace it"}},

	"set_path":    {{"path", ", or name it with --path"}},
	"set_strip":   {{"strip", "use --strip"}},
	"less_strip":  {{"strip", "use a smaller --strip"}},
	"no_strip":    {{"strip", "use --strip 0"}},
	"set_recount": {{"recount", ", or use --recount if it is whole"}},
	"other_form":  {{"path", "write a unified diff"}},
	"other_edit":  {{"", "use millrace replace or sed"}},

	"fewer_changes": {{"", "have it change less"}},
	"smaller_tree":  {{"", "use -C for a directory in it"}},
	"raise":         {{"", ""}},
	"whole_file":    {{"", "millrace replace -r sees the whole file, with \\n for a line end"}},
	"less_text":     {{"regex", "leave it out, or use -r"}},
	"use_force":     {{"", ""}}, // each message has its own advice about --force
}

// parameters has the names of parameters in the words of the command line.
var parameters = map[string]string{
	"old_text": "OLD", "sed_pattern": "script", "to": "DEST", "destination": "DEST",
	"fuzz": "--fuzz", "strip": "--strip", "reverse": "--reverse", "recount": "--recount", "ambiguous": "--nearest",
}

// part returns a part of a message in the words of the command. For a user who wrote a pipeline, it keeps the words of
// the engine, except that the command line has its own advice about force.
func (a *App) part(p wording.Part) string {
	if p.Kind == "ceiling" {
		return a.ceilingSource(p.Value) + " allows no more than " + p.Value
	}
	if a.oneLiner == nil && p.Kind != "use_force" {
		return p.Text
	}
	if p.Kind == "param" {
		return cmp.Or(parameters[p.Value], p.Text)
	}
	if p.Kind == "edit_text" && a.typed != "" {
		return a.typed
	}
	for _, phrase := range phrases[p.Kind] {
		if phrase.flag == "" || a.oneLiner.Flags().Lookup(phrase.flag) != nil {
			return strings.ReplaceAll(phrase.text, "%s", p.Value)
		}
	}
	return p.Text
}

// ceilingSource returns the name of the setting that has set the ceiling to this level.
func (a *App) ceilingSource(level string) string {
	is := func(l risk.Level) bool { return l != risk.Unset && l.String() == level }
	flag, _ := risk.Parse(a.flags.ceiling) // an invalid level was refused before
	switch {
	case is(flag):
		return "--ceiling"
	case is(a.config.Project.Ceiling):
		return "'ceiling' in " + config.ProjectFile
	}
	return "'ceiling' in your configuration"
}

// shownText returns a text for a message, shortened if it is long.
func shownText(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(text[:most], ""))
	}
	return fmt.Sprintf("%q", text)
}

// speak makes the executor word messages for the command line. JSON output keeps the words of the engine.
func (s *session) speak() {
	if f := s.format(); f != formatJSON && f != formatJSONL {
		s.x.Words = s.part
	}
}

// worded returns the message of an error in the words of the command line.
func (a *App) worded(err error) string {
	return wording.Of(err, a.part)
}

// warnings returns the warnings of a run in the words of the command line. "No files" is left out if another warning
// has the reason.
func (a *App) warnings(result *millrace.Result) []string {
	if a.oneLiner == nil {
		return result.AllWarnings()
	}
	all := slices.Clone(result.Warnings)
	for _, step := range result.Results {
		for _, w := range step.Warnings {
			if last := len(all) - 1; w != noFile || last < 0 || !strings.HasPrefix(all[last], "no file ") {
				all = append(all, w)
			}
		}
	}
	return all
}

// words returns the message of an error in the words of the command line. The user of a one-line command has not seen
// its steps, and uses flags instead of parameters.
func (a *App) words(err error) string {
	failed, isRefused := errors.AsType[*actions.CommandError](err)
	part := func(p wording.Part) string {
		if p.Kind == "refused" && isRefused && failed.Refused != nil {
			return fsutil.Visible(refusal(*failed.Refused))
		}
		return a.part(p)
	}
	text := wording.Of(err, part)
	step, isStep := errors.AsType[*millrace.StepError](err)
	if isStep = isStep && a.oneLiner != nil; isStep {
		text = wording.Of(step.Err, part)
	}
	if errors.Is(err, capability.ErrMountPoint) && !a.flags.inPlace {
		text += "; --in-place overwrites the bytes of such a file"
	}
	if a.oneLiner == nil {
		return text
	}
	if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
		return a.problems(invalid)
	}
	if inTheWay(err) {
		text += "; --overwrite replaces what is there"
	}
	if isStep {
		return a.oneLiner.Name() + " failed: " + text
	}
	return text
}

// refusal describes what the sandbox has refused to a command, without the setting that allows it for a host:
// refusalHint has the flag.
func refusal(r command.Refusal) string {
	switch {
	case r.Network:
		return "the sandbox has no network"
	case r.Home:
		return "the command has an empty HOME without '" + r.Path + "'"
	case r.Write:
		return "the sandbox does not let the command write '" + r.Path + "'"
	}
	return "the sandbox does not let the command read '" + r.Path + "'"
}

// problems returns a line for each problem of a pipeline that the user has typed as a one-line command.
func (a *App) problems(invalid *millrace.ValidationError) string {
	var lines []string
	for _, p := range invalid.Problems {
		line := p.Message
		switch {
		case p.Err != nil:
			line = a.worded(p.Err)
		case p.Hint != "":
			line += ": " + p.Hint
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// inTheWay reports whether an error is about files that --overwrite would replace. It replaces no links and no
// directories.
func inTheWay(err error) bool {
	step, ok := errors.AsType[*millrace.StepError](err)
	return ok && (step.Action == "copy" || step.Action == "rename") && actions.ReportOf("", step.Err).Cause == "exists"
}

// counted returns a number with its word, in the plural unless the number is one.
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

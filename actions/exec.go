package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Exec runs a command on the tree with the changes of earlier steps, in a private directory. Changes of the command are
// staged as changes of the step: they are shown, judged, committed or discarded like others. The host decides which
// commands may run, which files they can reach and how long they may run, see package command. By default no command
// may run. Commands also run in a dry run.
//
// The data of the step is
//
//	{"exit_code": 0, "signal": "", "stdout": "…", "stderr": "…", "truncated": false,
//	 "changed": ["a.go"], "deleted": [], "sandbox": {"files": "landlock 7", "network": "seccomp"}}
//
// and also "json" if Format is "json"; a failed step has it too. Its output is stdout, then stderr. Its files are the
// created, changed and renamed files.
//
// An exit status that is not in OKCodes fails the step with a *[CommandError], and the changes of the command are
// dropped. So a linter that fixes files and reports that by its status needs OKCodes.
type Exec struct {
	// Command is a program, run without a shell: no character in it is special. One of Command and Shell is set.
	Command string `json:"command,omitempty" doc:"Program to run, without a shell: a name such as gofmt, or ./x for a file of the tree, counted from its root."`
	// Shell is a script for /bin/sh -c.
	Shell string   `json:"shell,omitempty" doc:"Script for /bin/sh -c, instead of command. Few hosts allow it."`
	Args  []string `json:"args,omitempty" doc:"Arguments of the command, each a word."`
	Dir   string   `json:"dir,omitempty" doc:"Directory of the tree to run in. Default: its root."`
	// Env sets variables for the command; the host must allow their names.
	Env map[string]string `json:"env,omitempty" doc:"Environment variables to set; the host must allow them."`
	// Stdin is a string, which the command reads unchanged, or a list of lines, each of which gets a line end.
	Stdin any `json:"stdin,omitempty" doc:"Input of the command: a string, or a list of lines, so [\"{{find.files}}\"] is a name on each line."`
	// OKCodes are the exit statuses of success. Nil means only 0.
	OKCodes []int `json:"ok_codes,omitempty" doc:"Exit statuses, 0 to 255, that mean success. Default: [0]."`
	// Needs, Exclude, Writes and NoIgnore have the meaning of the fields of [WorkspaceOptions].
	Needs   []string `json:"needs,omitempty" doc:"Globs of files visible to the command. Default: all."`
	Exclude []string `json:"exclude,omitempty" doc:"Globs of files hidden from the command, such as node_modules."`
	Writes  []string `json:"writes,omitempty" doc:"Globs of files that may come back; other changes are dropped with a warning. Default: all."`
	// Discard means that the changes of the command are dropped: the step only reads.
	Discard  bool `json:"discard,omitempty" doc:"Discard the changes of the command, as for a check. It cannot be a template. Default: false."`
	NoIgnore bool `json:"no_ignore,omitempty" doc:"Also bring back files that .gitignore ignores."`
	// MaxOutput is the number of bytes kept of each stream: its first quarter and its last three quarters. Zero means 1
	// MiB. It is never more than the host allows, nor more than an eighth of the step's shown bytes.
	MaxOutput int64 `json:"max_output,omitempty" param:"nonzero" doc:"Bytes of each stream to keep. It can only lower the host's limit. Default: 1048576."`
	// Format "json" parses stdout, which must then be a single JSON value; "" and "text" do not.
	Format string `json:"format,omitempty" enum:"text,json" doc:"With json, what the command prints is parsed: {{step.json.field}}. Default: text."`
}

// Spec implements [Action].
func (a Exec) Spec() Spec {
	return Spec{
		Name: "exec", Summary: "Run a command on the tree with the changes of the steps before", ReadOnly: a.Discard,
		Input: InputNone, Data: true, Context: true, Exclusive: true,
	}
}

// Touches implements [Toucher]: the paths that a command touches are unknown.
func (Exec) Touches() (reads, writes []string, known bool) { return nil, nil, false }

// Words returns the program and its arguments; for a script, "/bin/sh", "-c" and the script.
func (a Exec) Words() []string {
	if a.Shell != "" {
		return []string{"/bin/sh", "-c", a.Shell}
	}
	return append([]string{a.Command}, a.Args...)
}

// CommandError reports that a command of a step has failed: by its exit status, because it could not be started, or
// because its output has the wrong format. Its changes are discarded.
type CommandError struct {
	// Status is the exit status, -1 for a command without an exit status. Signal is the name of the signal that ended the
	// command, if any.
	Status int
	Signal string
	// Line is the last line printed to stderr, else to stdout, "" for none.
	Line string
	// Refused is the access that the sandbox refused, as far as the output names it, or nil.
	Refused *command.Refusal
	// Err is the cause if it is not the exit status.
	Err error
}

// Error returns "exit status 1: " and the line.
func (e *CommandError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.message().Error()
}

// As sets target to the message in its parts, for a door of the project.
func (e *CommandError) As(target any) bool { return e.Err == nil && e.message().Give(target) }

func (e *CommandError) message() *worded.Error {
	text := fmt.Sprintf("exit status %d", e.Status)
	if e.Signal != "" {
		text = "ended by " + e.Signal
	}
	if e.Line != "" {
		text += ": " + e.Line
	}
	if e.Refused == nil {
		return worded.Errorf("%s", text)
	}
	return worded.Errorf("%s; %v", text,
		wording.Part{Kind: kinds.Refused, Text: fsutil.Visible(e.Refused.String())})
}

// MarshalJSON returns the code, the message and the paths.
func (e *CommandError) MarshalJSON() ([]byte, error) { return errorform.Marshal("exec_failed", e) }

// Unwrap returns Err.
func (e *CommandError) Unwrap() error { return e.Err }

// Code returns "exec_failed", or "canceled" if Err is the error of a context.
func (e *CommandError) Code() string { return errorform.UnlessCanceled(e.Err, errorform.ExecFailed) }

// Run implements [Action].
func (a Exec) Run(ctx context.Context, c *Call) (Outcome, error) {
	dir, err := a.dir(c)
	if err != nil {
		return Outcome{}, err
	}
	stdin, err := stdinText(a.Stdin)
	if err != nil {
		return Outcome{}, Permanent(err)
	}
	w, err := c.Workspace(ctx, a.workspace(ctx, c))
	if err != nil {
		return Outcome{}, err
	}
	defer w.Drop()
	at := filepath.Join(w.Root, filepath.FromSlash(dir))
	if _, err := os.Stat(at); err != nil {
		return Outcome{}, Permanent(
			fmt.Errorf("dir '%s' is not made real for the command: needs or exclude leave it out", dir))
	}
	shared, err := w.Shared()
	if err != nil {
		return Outcome{}, err
	}
	exit, err := c.Commands.Run(ctx, command.Command{
		Step: c.Step, Words: a.Words(), Shell: a.Shell != "", Root: w.Root, Dir: at, Temp: w.Temp, Home: w.Home,
		Shared: shared, Env: a.Env, Stdin: stdin, MaxOutput: a.maxOutput(c.Limits), OnOutput: c.OnOutput,
	})
	// A secret may be split over the texts of both streams.
	out := Outcome{Output: c.Commands.Mask(exit.Stdout.Text + exit.Stderr.Text)}
	data := dataOf(exit)
	if err != nil {
		if err = commandError(err); out.Output != "" || exit.Sandbox != nil {
			out.Data = data // the command has run
		}
		return out, err
	}
	out.Data = data
	if !a.ok(exit) {
		return out, &CommandError{Status: exit.Code, Signal: exit.Signal, Line: lastLine(exit), Refused: exit.Refused}
	}
	if a.Format == formatJSON {
		if data["json"], err = a.parse(c, exit.Stdout); err != nil {
			return out, &CommandError{Status: exit.Code, Line: lastLine(exit), Err: err}
		}
	}
	if a.Discard {
		return out, nil
	}
	back, err := w.TakeBack(ctx)
	if err != nil {
		return out, err
	}
	if told, ok := back.Data.(map[string]any); ok {
		data["changed"], data["deleted"] = told["changed"], told["deleted"]
	}
	back.Output, back.Data = out.Output, data
	return back, nil
}

// workspace returns the options of the workspace. A list that a template has emptied selects nothing.
func (a Exec) workspace(ctx context.Context, c *Call) WorkspaceOptions {
	const noName = "\x00" // a glob that matches no file
	o := WorkspaceOptions{Needs: a.Needs, Exclude: a.Exclude, Writes: a.Writes, NoIgnore: a.NoIgnore}
	if by := emptiedList(ctx, "needs", a.Needs); by != "" {
		c.Warnf("the command sees no files, because %s is an empty list", by)
		o.Needs = []string{noName}
	}
	if by := emptiedList(ctx, "writes", a.Writes); by != "" {
		c.Warnf("nothing comes back from the command, because %s is an empty list", by)
		o.Writes = []string{noName}
	}
	return o
}

// dir returns the directory of the tree to run in, with slashes and with links resolved.
func (a Exec) dir(c *Call) (string, error) {
	if a.Dir == "" {
		return ".", nil
	}
	dir, err := c.FS.Resolve(a.Dir)
	if err == nil {
		var info fs.FileInfo
		if info, err = c.FS.Stat(dir); err == nil && !info.IsDir() {
			err = fsutil.ErrNotDir
		}
	}
	return dir, fileError(a.Dir, err)
}

func (a Exec) ok(exit command.Exit) bool {
	return exit.Signal == "" && (exit.Code == 0 && len(a.OKCodes) == 0 || slices.Contains(a.OKCodes, exit.Code))
}

// maxOutput returns the number of bytes kept of each stream. The text is shown twice, as output and as data, and the
// names of the changed files are shown too.
func (a Exec) maxOutput(l Limits) int64 {
	const byDefault, copies = 1 << 20, 8
	most := a.MaxOutput
	if most <= 0 {
		most = byDefault
	}
	return max(1, min(most, l.ShownBytes()/copies))
}

const formatJSON = "json"

// parse returns the printed text as JSON. Secrets that are escaped in the JSON are masked too.
func (a Exec) parse(c *Call, printed command.Output) (any, error) {
	if printed.Truncated {
		return nil, fmt.Errorf("what it has printed is too long to be parsed (%d bytes): raise max_output",
			printed.Size)
	}
	v, err := parseJSON(printed.Text)
	if err != nil {
		return nil, fmt.Errorf("what it has printed is %w", err)
	}
	return masked(v, c.Commands.Masker()), nil
}

// masked returns a tree with mask applied to all texts in it.
func masked(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = masked(v[i], mask)
		}
	case map[string]any:
		all := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) { // two names may become equal: the last counts
			all[mask(name)] = masked(v[name], mask)
		}
		return all
	}
	return v
}

// dataOf returns the data of an ended command for templates.
func dataOf(exit command.Exit) map[string]any {
	sandbox := exit.Sandbox
	if sandbox == nil {
		sandbox = map[string]string{}
	}
	return map[string]any{
		"exit_code": exit.Code, "signal": exit.Signal, "stdout": exit.Stdout.Text, "stderr": exit.Stderr.Text,
		"truncated": exit.Stdout.Truncated || exit.Stderr.Truncated, "changed": []string{}, "deleted": []string{},
		"sandbox": sandbox,
	}
}

// commandError returns the step's error for a command that could not run to its end.
func commandError(err error) error {
	if over, ok := errors.AsType[interface {
		error
		Printed() (limit, got int64)
	}](err); ok {
		limit, got := over.Printed()
		return &LimitError{What: kinds.LimitPrinted, Limit: limit, Got: got}
	}
	_, denied := errors.AsType[*command.DeniedError](err)
	if denied || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &CommandError{Status: -1, Err: err}
}

// lastLine returns the last line of stderr that is not blank, else of stdout, in the form for a message.
func lastLine(exit command.Exit) string {
	const most = 300
	for _, text := range []string{exit.Stderr.Text, exit.Stdout.Text} {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
		return fsutil.Visible(show.Short(line, most))
	}
	return ""
}

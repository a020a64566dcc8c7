package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/synonyms"
)

// Tools are the JSON commands over runs. A nil part has no command: a host with only Browse is read-only, and a host
// with the zero Tools shows no runs at all. It is safe for concurrent use if its parts are.
type Tools struct {
	Browse Browser    // browse_pipelines
	Manage Manager    // manage_pipeline
	Jobs   JobManager // manage_pipeline_job
	// Lenient also accepts the names project_id, pipeline_id and job_id, a list as scope, and the actions play_job,
	// retry_job and cancel_job in manage_pipeline, for callers that have learned another edition of these commands.
	Lenient bool
	// Library reads the pipelines that create receives as definition. With the zero Library these are objects of the
	// built-in actions, and no names.
	Library millrace.Library
	// Source is the source of created runs, "" for [SourceAPI].
	Source string
}

// Names returns the names of the available commands.
func (t Tools) Names() []string {
	names := []string{}
	for _, name := range []string{CommandBrowse, CommandManage, CommandJobs} {
		if t.has(name) {
			names = append(names, name)
		}
	}
	return names
}

func (t Tools) has(name string) bool {
	switch name {
	case CommandBrowse:
		return t.Browse != nil
	case CommandManage:
		return t.Manage != nil
	case CommandJobs:
		return t.Jobs != nil
	}
	return false
}

// unavailableError reports a command that this host does not have.
type unavailableError struct {
	text     string
	readOnly bool
}

func (e *unavailableError) Error() string { return e.text }

func (e *unavailableError) Is(target error) bool { return e.readOnly && target == millrace.ErrReadOnly }

// find returns the command with a name, if the host has it.
func (t Tools) find(name string) (*command, error) {
	table := commands()
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
	switch {
	case i >= 0 && t.has(name):
		return &table[i], nil
	case i >= 0 && table[i].readOnly:
		return nil, &unavailableError{text: name + " is not available: there are no runs to look at"}
	case i >= 0:
		return nil, &unavailableError{text: name + " is not available: read-only", readOnly: true}
	}
	e := &unavailableError{text: fmt.Sprintf("unknown command '%s' (%s)", shown(name), strings.Join(t.Names(), ", "))}
	for _, m := range moved() {
		if m.old == name {
			e.text += fmt.Sprintf(": call %s with action '%s'", m.name, m.action)
			return nil, e
		}
	}
	if near, ok := synonyms.Suggest(name, t.Names()); ok {
		e.text += fmt.Sprintf(": did you mean '%s'?", near)
	}
	return nil, e
}

// Call executes a command. The arguments are a JSON object; the answer is the result of the interface's method in JSON:
// a [Run], [Job] or [Log], or a [Page] of these. The error is an *[ArgsError] that lists all problems of the arguments,
// an error of the method, or an error that reports a command that is not available. If an unavailable command would
// change something, the error matches [millrace.ErrReadOnly]. If Create returns a run with its error, so does Call. The
// answer has warnings about the text of a pipeline in the call, as a list "warnings".
func (t Tools) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	c, err := t.find(name)
	if err != nil {
		return nil, err
	}
	d := c.decode(args, t.Lenient)
	if d.act != nil && d.act.folded != "" && t.Jobs == nil {
		return nil, &unavailableError{text: CommandJobs + " is not available: read-only", readOnly: true}
	}
	if err := d.open(ctx, t.Library, args); err != nil {
		return nil, err
	}
	if err := d.err(name); err != nil {
		return nil, err
	}
	answer, err := t.execute(ctx, d)
	if answer == nil {
		return nil, err
	}
	data, failed := json.Marshal(answer)
	if failed != nil {
		return nil, errors.Join(err, fmt.Errorf("%s: the answer cannot be written: %w", name, failed))
	}
	return withWarnings(data, d.args.create.Pipeline.Warnings()), err
}

// withWarnings returns the JSON of an answer with the warnings about the text of the pipeline in the call.
func withWarnings(answer []byte, warnings []millrace.Problem) []byte {
	if len(warnings) == 0 {
		return answer
	}
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.String()
	}
	list, err := json.Marshal(texts)
	object, isObject := bytes.CutSuffix(answer, []byte("}"))
	if err != nil || !isObject {
		return answer
	}
	return slices.Concat(object, []byte(`,"warnings":`), list, []byte("}"))
}

// execute calls the method of the action. The answer is nil if there is none.
func (t Tools) execute(ctx context.Context, d *call) (any, error) {
	a := &d.args
	job := JobRef{Project: a.run.Project, ID: a.job}
	switch d.name {
	case CommandBrowse:
		return t.browse(ctx, d.act.name, a, job)
	case CommandManage:
		switch d.act.name {
		case "create":
			a.create.Source = t.Source
			run, err := t.Manage.Create(ctx, a.create)
			if err != nil && run.ID != "" {
				return run, err
			}
			return answer(run, err)
		case "retry":
			return answer(t.Manage.Retry(ctx, a.run))
		case "cancel":
			return answer(t.Manage.Cancel(ctx, a.run))
		}
	}
	verb := d.act.folded
	if verb == "" {
		verb = d.act.name
	}
	switch verb {
	case "play":
		return answer(t.Jobs.Play(ctx, job, a.play))
	case "retry":
		return answer(t.Jobs.Retry(ctx, job))
	default:
		return answer(t.Jobs.Cancel(ctx, job))
	}
}

func (t Tools) browse(ctx context.Context, action string, a *args, job JobRef) (any, error) {
	switch action {
	case "list":
		return answer(t.Browse.List(ctx, a.filter))
	case "get":
		return answer(t.Browse.Get(ctx, a.run))
	case "jobs":
		return answer(t.Browse.Jobs(ctx, a.run, a.jobs))
	case "triggers":
		return answer(t.Browse.Triggers(ctx, a.run, a.filter.Paging))
	case "job":
		return answer(t.Browse.Job(ctx, job))
	default:
		return answer(t.Browse.Logs(ctx, job, a.lines))
	}
}

// answer returns the result of a method, nil with an error.
func answer[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// TestEmptyLists: an allow-list that ends up empty allows nothing. Only a list that was never set means the default.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	none := actions.Registry{}.With([]actions.Action{}...)
	const create = `{"name":"p","steps":[{"id":"s","action":"create","params":{"path":"a","content":"x"}}]}`
	run := func(x millrace.Executor, a actions.Action) error {
		_, err := x.Run(t.Context(), suite.Tree("old", "x\n"), suite.One(a))
		return err
	}
	noTools, err := tool.New()
	fstest.Must(t, err)
	for name, test := range map[string]struct {
		err  error
		says string
	}{
		"actions to decode": {second(millrace.Decoder{Actions: none}.Decode([]byte(create))), "create"},
		"allowed paths, write": {
			run(millrace.Executor{AllowedPaths: []string{}}, actions.Create{Path: "a", Content: "x"}), fsutil.ErrNotAllowed.Error(),
		},
		"allowed paths, read": {
			run(millrace.Executor{AllowedPaths: []string{}}, actions.Edit{Files: []string{"old"}, OldText: "x", NewText: "y"}),
			fsutil.ErrNotAllowed.Error(),
		},
		"programs": {run(millrace.Executor{Commands: command.Policy{Allow: []string{}}}, actions.Exec{Command: "true"}), "allows no programs"},
		"agents":   {run(millrace.Executor{Agents: map[string]agent.Agent{}}, actions.Prompt{Prompt: "x"}), "agent"},
		"tools":    {run(millrace.Executor{Tools: noTools}, actions.Tool{Tool: "post"}), "tool"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.says) {
			t.Errorf("%s: the error is %v", name, test.err)
		}
	}
	d := millrace.Decoder{Actions: none}
	if _, ok := d.Describe("create"); ok {
		t.Error("an action that is not allowed is described")
	}
	data, err := d.Schema()
	fstest.Must(t, err)
	var schema struct {
		Defs struct{ Step any } `json:"$defs"`
	}
	fstest.Must(t, json.Unmarshal(data, &schema))
	if schema.Defs.Step != false {
		t.Errorf("the schema accepts the step %v", schema.Defs.Step)
	}
	if _, ok := (millrace.Decoder{}).Describe("create"); !ok {
		t.Error("the zero Registry is not Builtin")
	}
	found, err := millrace.Executor{AllowedPaths: []string{}}.Run(t.Context(), suite.Tree("old", "x\n"), suite.One(actions.List{}))
	if err == nil && len(found.Results[0].FilesMatched) > 0 {
		t.Errorf("files that are not allowed are listed: %v", found.Results[0].FilesMatched)
	}
}

// TestBrokenRegistry: a registry with an invalid action is refused by everything that accepts a registry.
func TestBrokenRegistry(t *testing.T) {
	t.Parallel()
	d := millrace.Decoder{Actions: actions.Builtin().With(nil)}
	if _, err := d.Schema(); !errors.Is(err, d.Actions.Err()) {
		t.Errorf("Schema returns %v", err)
	}
	if _, err := d.Decode([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "an action is nil") {
		t.Errorf("Decode returns %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

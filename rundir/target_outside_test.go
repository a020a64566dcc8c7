package rundir_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/tool"
)

// The steps of TestTargetOutside.
const (
	editFirst = `{"id": "a", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "xx"}}`
	callPost  = `{"id": "post", "action": "tool", "params": {"tool": "post"}}`
	callLook  = `{"id": "look", "action": "tool", "params": {"tool": "look"}}`
	failFirst = `{"id": "b", "action": "edit", "params": {"files": ["b.txt"], "old_text": "y", "new_text": "yy"}}`
)

// A target has failed, and another program has changed files that its first steps have read. The run goes back, but
// never past a step that has acted outside of the tree: then it fails, and the step is named.
func TestTargetOutside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps   string
		changed string // the text of a.txt between the attempts, "" for none
		goesOn  bool
		a       string
	}{
		"nothing has changed":        {editFirst + "," + callPost + "," + failFirst, "", true, "xx\n"},
		"it acted outside behind":    {editFirst + "," + callPost + "," + failFirst, "z x\n", false, "z x\n"},
		"it acted outside before":    {callPost + "," + editFirst + "," + failFirst, "z x\n", true, "z xx\n"},
		"it asked for a fact behind": {callPost + "," + editFirst + "," + callLook + "," + failFirst, "z x\n", true, "z xx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, posts := newTarget(t, rundir.Host{}), 0
			set, err := tool.New(
				tool.Func("post", "acts outside", func(context.Context, struct{}) (string, error) { posts++; return "posted", nil }),
				tool.WithSpec(tool.Func("look", "reads", func(context.Context, struct{}) (string, error) { return "seen", nil }),
					func(s *tool.Spec) { s.Pure = true }),
			)
			fstest.Must(t, err)
			p.worker.Executor.Tools = set
			fstest.Must(t, p.tree.Remove("b.txt")) // to make the last step fail
			text := `{"name": "outside", "steps": [` + test.steps + `]}`
			if o := p.do(t, text, ""); o.Code != "step_failed" || posts != 1 {
				t.Fatalf("%d posts, %+v", posts, o)
			}
			if test.changed != "" {
				fstest.Must(t, afero.WriteFile(p.tree, "a.txt", []byte(test.changed), 0o644))
			}
			fstest.Must(t, afero.WriteFile(p.tree, "b.txt", []byte("y\n"), 0o644))
			o := p.do(t, text, "")
			if goesOn := o.Status == fleet.Success; goesOn != test.goesOn || !goesOn && o.Code != "drift" {
				t.Errorf("%+v", o)
			}
			if posts != 1 {
				t.Errorf("it acted %d times outside", posts)
			}
			if a := p.text(t, "a.txt"); a != test.a {
				t.Errorf("a.txt is %q", a)
			}
		})
	}
}

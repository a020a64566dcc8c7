package revise_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/names"
)

// TestLargeDiffErrors: no diff is shown for a file that has changed, for a diff over the limit, or for a stored plan
// with wrong data.
func TestLargeDiffErrors(t *testing.T) {
	t.Parallel()
	text := largeText()
	dir, root := largeTree(t, text)
	file := filepath.Join(dir, "large.txt")
	plan, err := millrace.Executor{}.Plan(t.Context(), root, largePipeline(t))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	open := func(x millrace.Executor, data []byte) *millrace.Plan {
		p, err := x.OpenPlan(t.Context(), root, data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	_, err = open(millrace.Executor{Limits: actions.Limits{MaxOutputBytes: 1000}}, stored).Files()
	if over, ok := errors.AsType[*actions.LimitError](err); !ok || over.What != "bytes shown" || over.Limit != 1000 {
		t.Errorf("too much: %v", err)
	}
	lie := open(millrace.Executor{}, bytes.Replace(stored, []byte(`"text":"bmFtZQ=="`), []byte(`"text":"TkFNRQ=="`), 1))
	if text := lie.Diff(); !strings.Contains(text, "the splices do not give what the hash says") || strings.Contains(text, "@@") {
		t.Errorf("a plan with wrong data: %.300s", text)
	}
	if _, err := lie.Commit(t.Context()); err == nil {
		t.Error("a plan with wrong data is committed")
	}
	size := plan.Changes()[0].New.Size
	for _, other := range []int64{size - 1, size + 1, 0, -1} {
		for _, old := range []int64{int64(len(text)), 1, 20 << 20} {
			data := bytes.Replace(stored, fmt.Appendf(nil, `"size":%d`, size), fmt.Appendf(nil, `"size":%d`, other), 1)
			data = bytes.Replace(data, fmt.Appendf(nil, `"size":%d`, len(text)), fmt.Appendf(nil, `"size":%d`, old), 1)
			p, err := millrace.Executor{}.OpenPlan(t.Context(), root, data)
			if err == nil { // the two sizes match, but the files do not
				_, err = p.Files()
			}
			if err == nil {
				t.Errorf("a plan with the wrong sizes %d and %d is shown", old, other)
			}
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	// The new text has the same size and time.
	if err := os.WriteFile(file, []byte("L"+text[1:]), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*millrace.Plan{"plan": plan, "stored plan": open(millrace.Executor{}, stored)} {
		if _, err := p.Files(); !errors.Is(err, names.ErrDrift) {
			t.Errorf("%s of a file that has changed: %v", name, err)
		}
		if text := p.Diff(); !strings.HasPrefix(text, "the diff cannot be shown: ") || strings.Contains(text, "@@") {
			t.Errorf("%s of a file that has changed: %.300s", name, text)
		}
		conflict, ok := errors.AsType[*millrace.ConflictError](commitError(t, p))
		if !ok || len(conflict.Conflicts) != 1 {
			t.Errorf("%s: %v", name, conflict)
		}
	}
}

func commitError(t *testing.T, p *millrace.Plan) error {
	t.Helper()
	_, err := p.Commit(t.Context())
	return err
}

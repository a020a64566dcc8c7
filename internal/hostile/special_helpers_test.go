package hostile_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
)

// patience is the time after which an operation counts as hanging. An operation that must be quick needs a small part
// of it on an idle machine.
const patience = 2 * time.Minute

// within fails the test if do does not return in time, so that the test binary does not hang. The context of do ends
// shortly before.
func within(t *testing.T, limit time.Duration, do func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	select {
	case <-done:
	case <-time.After(limit + 5*time.Second):
		stacks := make([]byte, 1<<20)
		t.Fatalf("hangs for more than %v:\n%s", limit, stacks[:runtime.Stack(stacks, true)])
	}
}

// runOn runs steps on the backend with the executor of the test.
func (b *backend) runOn(t *testing.T, x millrace.Executor, steps ...obj) (res *millrace.Result, err error) {
	t.Helper()
	p := decoded(t, steps...)
	within(t, patience, func(ctx context.Context) { res, err = x.Run(ctx, b.fs, p) })
	return res, err
}

// plan returns the plan of steps, which must be possible.
func (b *backend) plan(t *testing.T, steps ...obj) *millrace.Plan {
	t.Helper()
	p, err := host().Plan(t.Context(), b.fs, decoded(t, steps...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// eachCommitting is eachBackend for backends that accept commits. A CopyOnWriteFs cannot rename files of its base, so
// no pipeline can be committed there.
func eachCommitting(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if !b.commits {
			t.Skip("overlay: a CopyOnWriteFs cannot rename what is below it, so nothing is ever committed")
		}
		test(t, b)
	})
}

// eachDirectory is eachBackend for backends whose tree, or its base, is a directory of the operating system.
func eachDirectory(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	eachBackend(t, func(t *testing.T, b *backend) {
		if b.dir == "" {
			t.Skip("memory: a tree in memory has only files and directories")
		}
		test(t, b)
	})
}

func editFile(name, old, new string, fields ...obj) obj {
	return act("edit", obj{"files": []string{name}, "old_text": old, "new_text": new}, fields...)
}

// id is a field for act.
func id(name string) obj { return obj{"id": name} }

// wantStepError fails the test unless err is the *StepError of that step and names the path. Its cause must be want,
// unless want is nil.
func wantStepError(t *testing.T, err error, step, path string, want error) {
	t.Helper()
	failed, ok := errors.AsType[*millrace.StepError](err)
	switch {
	case !ok || failed.Step != step:
		t.Errorf("want a *StepError of step %q, got %T: %.300v", step, err, err)
	case want != nil && !errors.Is(err, want):
		t.Errorf("want the cause %q, got %.300v", want, err)
	case !strings.Contains(err.Error(), path):
		t.Errorf("the error does not name %s: %.300v", path, err)
	}
}

// wantConflict fails the test unless err is a *ConflictError about exactly these paths, each with a reason.
func wantConflict(t *testing.T, err error, paths ...string) {
	t.Helper()
	conflict, ok := errors.AsType[*millrace.ConflictError](err)
	if !ok {
		t.Errorf("want a *ConflictError, got %T: %v", err, err)
		return
	}
	var got []string
	for _, c := range conflict.Conflicts {
		got = append(got, c.Path)
		if c.Reason == "" || !strings.Contains(err.Error(), c.Path) {
			t.Errorf("conflict %+v has no reason, or is not in the text: %v", c, err)
		}
	}
	if !slices.Equal(got, paths) {
		t.Errorf("conflicts are at %q, want %q: %v", got, paths, err)
	}
}

// wantProblem fails the test unless err is a *ValidationError with a problem of that code at that pointer.
func wantProblem(t *testing.T, err error, code, pointer string) {
	t.Helper()
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Errorf("want a *ValidationError, got %T: %.300v", err, err)
		return
	}
	for _, p := range invalid.Problems {
		if p.Code == code && p.Pointer == pointer && p.Message != "" {
			return
		}
	}
	t.Errorf("no problem %q at %q in %+.500v", code, pointer, invalid.Problems)
}

// decodeBad decodes a text that must be refused in time.
func decodeBad(t *testing.T, d millrace.Decoder, text []byte) (err error) {
	t.Helper()
	within(t, patience, func(context.Context) { _, err = d.Decode(text) })
	if err == nil {
		t.Errorf("decoded: %.200s", text)
	}
	return err
}

package hostile_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// brokenHandler is a log handler that fails in every method.
type brokenHandler struct{ fail func() }

func (h brokenHandler) Enabled(context.Context, slog.Level) bool  { h.fail(); return true }
func (h brokenHandler) Handle(context.Context, slog.Record) error { h.fail(); return nil }
func (h brokenHandler) WithAttrs(attrs []slog.Attr) slog.Handler  { h.fail(); return h }
func (h brokenHandler) WithGroup(name string) slog.Handler        { h.fail(); return h }

// phaseObserver calls at for each phase of a commit, and then fails.
func phaseObserver(fail func(), at func(phase string)) func(e millrace.Event) {
	return func(e millrace.Event) {
		if p, ok := e.(millrace.CommitPhase); ok {
			at(p.Phase)
		}
		fail()
	}
}

// waysToFail are the ways in which a program's callback can end abnormally.
func waysToFail() map[string]func() {
	return map[string]func(){
		"panic":         func() { panic("the watcher is broken") },
		"panic error":   func() { panic(errors.New("the watcher is broken")) },
		"end goroutine": runtime.Goexit,
	}
}

// The watchers of a run fail at each call. That does not affect the run, and the result reports it.
func TestHostile_an_observer_and_a_logger_that_fail_at_every_call(t *testing.T) {
	t.Parallel()
	for name, fail := range waysToFail() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachCommitting(t, func(t *testing.T, b *backend) {
				var seen []string
				x := host()
				x.Observe = phaseObserver(fail, func(phase string) { seen = append(seen, phase) })
				x.Logger = slog.New(brokenHandler{fail})
				res, err := b.runOn(t, x, editFile("a.txt", "needle", "pin"), editFile("b.txt", "needle", "pin", id("b")))
				if err != nil || res.Commit.State != millrace.CommitApplied || !res.Results[0].Success {
					t.Fatalf("%+v, %v", res, err)
				}
				if got := b.content(t, "a.txt") + b.content(t, "b.txt"); got != "alpha pin\nbeta pin\n" {
					t.Errorf("the files are %q", got)
				}
				for _, phase := range []string{"verify", "stage", "backup", "journal", "apply", "sync", "commit", "clean"} {
					if !slices.Contains(seen, phase) {
						t.Errorf("the observer was not called for %q: %q", phase, seen)
					}
				}
				wantWarnings(t, res.Warnings, "observer failed", "logger failed")
			})
		})
	}
}

// An observer that fails during a rollback does not prevent the tree from being restored.
func TestHostile_an_observer_that_fails_during_rollback(t *testing.T) {
	t.Parallel()
	for name, fail := range waysToFail() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachCommitting(t, func(t *testing.T, b *backend) {
				const foreign = "somebody else's\n"
				rolledBack := false
				x := host()
				x.Logger = slog.New(brokenHandler{fail})
				x.Observe = phaseObserver(fail, func(phase string) {
					switch phase {
					case "apply": // a.txt comes first
						if err := afero.WriteFile(b.fs, "b.txt", []byte(foreign), 0o644); err != nil {
							t.Error(err)
						}
					case "rollback":
						rolledBack = true
					}
				})
				res, err := b.runOn(t, x, editFile("a.txt", "needle", "pin"), editFile("b.txt", "needle", "pin", id("b")))
				if _, ok := errors.AsType[*millrace.ConflictError](err); !ok || !rolledBack || res.Commit.State != millrace.CommitRolledBack {
					t.Errorf("rolled back %v: %+v, %v", rolledBack, res, err)
				}
				if a, b := b.content(t, "a.txt"), b.content(t, "b.txt"); a != "alpha needle\n" || b != foreign {
					t.Errorf("a.txt is %q, b.txt is %q", a, b)
				}
				wantWarnings(t, res.Warnings, "observer failed", "logger failed")
				if _, err := b.runOn(t, host(), editFile("a.txt", "needle", "pin")); err != nil {
					t.Errorf("the next run: %v", err)
				}
			})
		})
	}
}

// wantWarnings checks that exactly one warning has each of these words.
func wantWarnings(t *testing.T, warnings []string, words ...string) {
	t.Helper()
	for _, w := range words {
		n := 0
		for _, text := range warnings {
			if strings.Contains(text, w) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d warnings have %q, want one: %q", n, w, warnings)
		}
	}
}

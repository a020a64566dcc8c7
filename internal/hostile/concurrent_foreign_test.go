package hostile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// foreign is the content that another program writes to a.txt.
const foreign = "what an editor has saved\n"

// sameSize has the length of a.txt, and differs from the result of a run.
const sameSize = "ALPHA NEEDLE\n"

// saves are the ways in which another program writes to a.txt. Its bytes are foreign, except if the size must not
// reveal them.
func saves() map[string]func(b *backend) (content string, err error) {
	return map[string]func(b *backend) (string, error){
		"rename style": func(b *backend) (string, error) {
			if err := afero.WriteFile(b.fs, "a.txt~", []byte(foreign), 0o644); err != nil {
				return "", err
			}
			return foreign, b.fs.Rename("a.txt~", "a.txt")
		},
		"in place": func(b *backend) (string, error) {
			return foreign, afero.WriteFile(b.fs, "a.txt", []byte(foreign), 0o644)
		},
		"same size, same mtime": func(b *backend) (string, error) {
			return sameSize, errors.Join(afero.WriteFile(b.fs, "a.txt", []byte(sameSize), 0o644), b.fs.Chtimes("a.txt", longAgo, longAgo))
		},
		"same size, same mtime, other file": func(b *backend) (string, error) {
			return sameSize, errors.Join(afero.WriteFile(b.fs, "a.txt~", []byte(sameSize), 0o644),
				b.fs.Chtimes("a.txt~", longAgo, longAgo), b.fs.Rename("a.txt~", "a.txt"))
		},
		"deleted": func(b *backend) (string, error) { return "", b.fs.Remove("a.txt") },
	}
}

// writesAll has a step of each kind; a.txt is among the files of the step under test.
func writesAll(one obj) []obj {
	return []obj{
		one,
		editFile("b.txt", "needle", "pin", id("b")),
		act("copy", obj{"files": []string{"b.txt"}, "to": "dir/copied.txt"}),
		act("rename", obj{"files": []string{"dir/c.txt"}, "to": "dir/renamed.txt"}, id("c")),
		act("delete", obj{"files": []string{"dir/sub/d.txt"}}, id("d")),
	}
}

// touched are the steps that can be applied to a.txt.
func touched() map[string]obj {
	return map[string]obj{
		"edit":   editFile("a.txt", "needle", "pin"),
		"delete": act("delete", obj{"files": []string{"a.txt"}}),
		"rename": act("rename", obj{"files": []string{"a.txt"}, "to": "moved.txt"}),
		"copy":   act("copy", obj{"files": []string{"b.txt"}, "to": "a.txt", "overwrite": true}, id("over")),
	}
}

// checkKept fails the test unless the tree is unchanged except for a.txt, which has the other program's content.
//
// A rollback cannot distinguish a file that another program removed from a file that it must restore. So a file that
// was removed after the transaction was applied may be back, unchanged.
func checkKept(t *testing.T, b *backend, before map[string]string, content string, mayBeBack bool) {
	t.Helper()
	after := b.snapshot(t)
	name := "a.txt"
	if b.dir == "" {
		name += " in memory"
	}
	if mayBeBack && content == "" && after[name] == before[name] {
		b.same(t, before, after)
		return
	}
	if _, there := after[name]; there != (content != "") {
		t.Errorf("a.txt exists: %v", there)
	}
	if content != "" {
		if got := b.content(t, "a.txt"); got != content {
			t.Errorf("a.txt is %q, want %q", got, content)
		}
		after[name] = before[name]
	} else {
		delete(before, name)
	}
	b.same(t, before, after)
}

// same fails the test for each path at which the snapshots differ.
func (b *backend) same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%q was %s, is %s", name, was, after[name])
		}
	}
	for name, is := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%q was made: %s", name, is)
		}
	}
}

// Another program saves between the plan and its commit.
func TestHostile_other_programs_between_plan_and_commit(t *testing.T) {
	t.Parallel()
	for how, save := range saves() {
		for what, one := range touched() {
			if what != "edit" && !strings.HasPrefix(how, "rename") && !fstest.Tortured() {
				continue
			}
			t.Run(how+"/"+what, func(t *testing.T) {
				eachCommitting(t, func(t *testing.T, b *backend) {
					plan := b.plan(t, writesAll(one)...)
					before := b.snapshot(t)
					content, err := save(b)
					if err != nil {
						t.Fatal(err)
					}
					within(t, patience, func(ctx context.Context) {
						res, err := plan.Commit(ctx)
						wantConflict(t, err, "a.txt")
						if res == nil || res.Success || res.Commit.State != millrace.CommitNone {
							t.Errorf("result is %+v", res)
						}
					})
					checkKept(t, b, before, content, false)
				})
			})
		}
	}
}

// Another program saves while a run is about to commit, or is already committing.
func TestHostile_other_programs_during_a_commit(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"verify", "stage", "backup", "journal", "apply"} {
		for how, save := range saves() {
			for what, one := range touched() {
				if inBetween := phase != "verify" && phase != "apply"; inBetween && what != "edit" && !fstest.Tortured() {
					continue // the long form takes half a minute
				}
				t.Run(phase+"/"+how+"/"+what, func(t *testing.T) {
					eachCommitting(t, func(t *testing.T, b *backend) {
						if how == "same size, same mtime" && phase != "verify" && b.confined {
							t.Skip("after the check, a file with the same inode, size and time is not read again")
						}
						before := b.snapshot(t)
						content, saved := "", false
						x := host()
						x.Observe = func(e millrace.Event) {
							if p, ok := e.(millrace.CommitPhase); ok && p.Phase == phase && !saved {
								saved = true
								var err error
								if content, err = save(b); err != nil {
									t.Error(err)
								}
							}
						}
						res, err := b.runOn(t, x, writesAll(one)...)
						if !saved {
							t.Fatal("nothing was saved")
						}
						wantConflict(t, err, "a.txt")
						if res == nil || res.Success {
							t.Errorf("result is %+v", res)
						}
						checkKept(t, b, before, content, phase == "journal" || phase == "apply")
					})
				})
			}
		}
	}
}

// Another program makes an entry at a path that was free when the change was planned.
func TestHostile_a_file_created_at_a_planned_path(t *testing.T) {
	t.Parallel()
	for what, one := range map[string]obj{
		"copy":   act("copy", obj{"files": []string{"a.txt"}, "to": "new.txt"}),
		"rename": act("rename", obj{"files": []string{"a.txt"}, "to": "new.txt"}),
	} {
		for _, phase := range []string{"", "verify", "stage", "backup", "journal", "apply"} {
			t.Run(what+"/"+phase, func(t *testing.T) {
				eachCommitting(t, func(t *testing.T, b *backend) {
					steps := []obj{one, editFile("b.txt", "needle", "pin")}
					create := func() {
						if err := afero.WriteFile(b.fs, "new.txt", []byte(foreign), 0o644); err != nil {
							t.Error(err)
						}
					}
					before := b.snapshot(t)
					var err error
					if phase == "" {
						plan := b.plan(t, steps...)
						create()
						_, err = plan.Commit(t.Context())
					} else {
						x := host()
						x.Observe = func(e millrace.Event) {
							if p, ok := e.(millrace.CommitPhase); ok && p.Phase == phase {
								create()
							}
						}
						_, err = b.runOn(t, x, steps...)
					}
					wantConflict(t, err, "new.txt")
					if got := b.content(t, "new.txt"); got != foreign {
						t.Errorf("new.txt is %q", got)
					}
					after := b.snapshot(t)
					delete(after, "new.txt")
					delete(after, "new.txt in memory")
					b.same(t, before, after)
				})
			})
		}
	}
}

// RemoveTree is an action that removes a directory, which no built-in action does.
type RemoveTree struct {
	Dir string `json:"dir" param:"required"`
}

// Spec implements [actions.Action].
func (RemoveTree) Spec() actions.Spec {
	return actions.Spec{Name: "remove_tree", Summary: "Remove a directory", Input: actions.InputNone}
}

// Run implements [actions.Action].
func (r RemoveTree) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{Files: []string{r.Dir}}, c.FS.RemoveAll(r.Dir)
}

// Another program adds a file to a directory that the run is about to remove.
func TestHostile_foreign_file_in_directory_to_remove(t *testing.T) {
	t.Parallel()
	d := millrace.Decoder{Actions: actions.Builtin().With(RemoveTree{})}
	for _, phase := range []string{"", "verify", "stage", "backup", "journal", "apply"} {
		t.Run(phase, func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				p, err := d.Decode(pipeline(t, act("remove_tree", obj{"dir": "dir"}), editFile("b.txt", "needle", "pin")))
				if err != nil {
					t.Fatal(err)
				}
				create := func() {
					if err := afero.WriteFile(b.fs, "dir/sub/foreign.txt", []byte(foreign), 0o644); err != nil {
						t.Error(err)
					}
				}
				before := b.snapshot(t)
				if phase == "" {
					plan, perr := host().Plan(t.Context(), b.fs, p)
					if perr != nil {
						t.Fatal(perr)
					}
					create()
					_, err = plan.Commit(t.Context())
				} else {
					x := host()
					x.Observe = func(e millrace.Event) {
						if at, ok := e.(millrace.CommitPhase); ok && at.Phase == phase {
							create()
						}
					}
					within(t, patience, func(ctx context.Context) { _, err = x.Run(ctx, b.fs, p) })
				}
				conflict, ok := errors.AsType[*millrace.ConflictError](err)
				if !ok || len(conflict.Conflicts) == 0 || !slices.Contains([]string{"dir/sub", "dir/sub/foreign.txt"}, conflict.Conflicts[0].Path) {
					t.Errorf("want a conflict in dir/sub, got %T: %v", err, err)
				}
				if got := b.content(t, "dir/sub/foreign.txt"); got != foreign {
					t.Errorf("foreign.txt is %q", got)
				}
				after := b.snapshot(t)
				delete(after, "dir/sub/foreign.txt")
				delete(after, "dir/sub/foreign.txt in memory")
				b.same(t, before, after)
			})
		})
	}
}

// A restore must remove a directory that the run made, and in which another program now works.
func TestHostile_foreign_file_in_directory_to_restore(t *testing.T) {
	t.Parallel()
	eachCommitting(t, func(t *testing.T, b *backend) {
		res := b.works(t, act("copy", obj{"files": []string{"a.txt", "b.txt"}, "destination": "new/deep"}))
		if err := afero.WriteFile(b.fs, "new/deep/foreign.txt", []byte(foreign), 0o644); err != nil {
			t.Fatal(err)
		}
		before := b.snapshot(t)
		_, err := host().Restore(t.Context(), b.fs, res.BackupID)
		conflict, ok := errors.AsType[*millrace.ConflictError](err)
		if !ok || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != "new/deep/foreign.txt" {
			t.Errorf("want a conflict about the foreign file, got %T: %v", err, err)
		}
		b.unchanged(t, before)
	})
}

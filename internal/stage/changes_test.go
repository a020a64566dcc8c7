package stage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// outline formats a list of changes, one line each: kind, path, from, kinds of the sides if they are not files, author.
func outline(changes []change.Change) []string {
	lines := []string{}
	for _, c := range changes {
		line := string(c.Kind) + " " + c.Path
		if c.From != "" {
			line += " from " + c.From
		}
		for _, s := range []struct {
			label string
			state change.State
		}{{"old", c.Old}, {"new", c.New}, {"over", c.Replaced}} {
			if s.state.Kind > change.File || s.label == "over" && s.state.Kind == change.File {
				line += fmt.Sprintf(" %s=%v", s.label, s.state.Kind)
			}
		}
		if c.Permanent {
			line += " permanent"
		}
		for _, by := range c.By {
			line += " " + by.Step
		}
		lines = append(lines, line)
	}
	return lines
}

func TestChanges(t *testing.T) {
	t.Parallel()
	write := func(s *stage.Stage, name, text string) error { return afero.WriteFile(s, name, []byte(text), 0o644) }
	type op func(s *stage.Stage) error
	tests := []struct {
		name string
		ops  []op // the first by step s1, the second by s2, ...
		want []string
	}{
		{"nothing", nil, []string{}},
		{"create", []op{func(s *stage.Stage) error { return write(s, "new", "x") }}, []string{"created new s1"}},
		{"create and remove", []op{
			func(s *stage.Stage) error { return write(s, "new", "x") },
			func(s *stage.Stage) error { return s.Remove("new") },
		}, []string{}},
		{"modify twice by one step, once by another", []op{
			func(s *stage.Stage) error {
				return errors.Join(s.Edit("a", []change.Splice{cut(0, 1, "C")}), s.Edit("a", []change.Splice{cut(1, 1, "O")}))
			},
			func(s *stage.Stage) error { return s.Edit("a", []change.Splice{cut(2, 1, "N")}) },
		}, []string{"modified a s1 s2"}},
		{"an edit that changes nothing", []op{
			func(s *stage.Stage) error { return s.Edit("a", []change.Splice{cut(0, 1, "C")}) },
			func(s *stage.Stage) error { return s.Edit("a", []change.Splice{cut(0, 1, "C")}) },
		}, []string{"modified a s1"}},
		{"delete", []op{func(s *stage.Stage) error { return s.Remove("a") }}, []string{"deleted a s1"}},
		{"discard", []op{func(s *stage.Stage) error { return s.Discard("a") }}, []string{"deleted a permanent s1"}},
		{"delete, then other content", []op{
			func(s *stage.Stage) error { return s.Remove("a") },
			func(s *stage.Stage) error { return write(s, "a", "x") },
		}, []string{"modified a s1 s2"}},
		{"delete, then the same content", []op{
			func(s *stage.Stage) error { return s.Remove("a") },
			func(s *stage.Stage) error { return write(s, "a", "content of a\n") },
		}, []string{}},
		{"rename", []op{func(s *stage.Stage) error { return s.Rename("a", "z") }}, []string{"renamed z from a s1"}},
		{"rename and back", []op{
			func(s *stage.Stage) error { return s.Rename("a", "z") },
			func(s *stage.Stage) error { return s.Rename("z", "a") },
		}, []string{}},
		{"rename over another", []op{func(s *stage.Stage) error { return s.Rename("a", "b") }}, []string{"renamed b from a over=file s1"}},
		{"edit, rename, edit", []op{
			func(s *stage.Stage) error { return s.Edit("a", []change.Splice{cut(0, 1, "C")}) },
			func(s *stage.Stage) error { return s.Rename("a", "z") },
			func(s *stage.Stage) error { return s.Edit("z", []change.Splice{cut(1, 1, "O")}) },
		}, []string{"renamed z from a s1 s2 s3"}},
		{"swap", []op{
			func(s *stage.Stage) error { return s.Rename("a", "tmp") },
			func(s *stage.Stage) error { return s.Rename("b", "a") },
			func(s *stage.Stage) error { return s.Rename("tmp", "b") },
		}, []string{"renamed a from b over=file s1 s2", "renamed b from a over=file s1 s2 s3"}},
		{"rename, then something new at the old name", []op{
			func(s *stage.Stage) error { return s.Rename("a", "z") },
			func(s *stage.Stage) error { return write(s, "a", "x") },
		}, []string{"modified a s1 s2", "renamed z from a s1"}},
		{"rename, then a copy back", []op{
			func(s *stage.Stage) error { return s.Rename("a", "z") },
			func(s *stage.Stage) error { return s.Copy("z", "a") },
		}, []string{"created z s1"}},
		{"copy", []op{func(s *stage.Stage) error { return s.Copy("a", "z") }}, []string{"created z s1"}},
		{"copy, then remove the first", []op{
			func(s *stage.Stage) error { return s.Copy("a", "z") },
			func(s *stage.Stage) error { return s.Remove("a") },
		}, []string{"deleted a s2", "created z s1"}},
		{"rename a directory", []op{func(s *stage.Stage) error { return s.Rename("d", "e") }}, []string{
			"renamed e from d old=dir new=dir s1", "renamed e/f from d/f s1", "renamed e/g from d/g old=dir new=dir s1", "renamed e/g/h from d/g/h s1",
		}},
		{"edit in a directory, rename it, add to it", []op{
			func(s *stage.Stage) error { return s.Edit("d/f", []change.Splice{cut(0, 1, "C")}) },
			func(s *stage.Stage) error { return s.Rename("d", "e") },
			func(s *stage.Stage) error { return write(s, "e/new", "x") },
			func(s *stage.Stage) error { return s.RemoveAll("e/g") },
		}, []string{
			"deleted d/g old=dir s4", "deleted d/g/h s4",
			"renamed e from d old=dir new=dir s2", "renamed e/f from d/f s1 s2", "created e/new s3",
		}},
		{"remove a directory", []op{func(s *stage.Stage) error { return s.RemoveAll("d") }}, []string{
			"deleted d old=dir s1", "deleted d/f s1", "deleted d/g old=dir s1", "deleted d/g/h s1",
		}},
		{"remove a directory and make it again", []op{
			func(s *stage.Stage) error { return s.RemoveAll("d") },
			func(s *stage.Stage) error { return s.Mkdir("d", 0o755) },
		}, []string{"deleted d/f s1", "deleted d/g old=dir s1", "deleted d/g/h s1"}},
		{"file becomes directory", []op{
			func(s *stage.Stage) error { return s.Remove("a") },
			func(s *stage.Stage) error { return errors.Join(s.Mkdir("a", 0o755), write(s, "a/x", "x")) },
		}, []string{"modified a new=dir s1 s2", "created a/x s2"}},
		{"directory becomes file", []op{
			func(s *stage.Stage) error { return s.RemoveAll("d") },
			func(s *stage.Stage) error { return write(s, "d", "x") },
		}, []string{"modified d old=dir s1 s2", "deleted d/f s1", "deleted d/g old=dir s1", "deleted d/g/h s1"}},
		{"file becomes link", []op{
			func(s *stage.Stage) error { return errors.Join(s.Remove("a"), s.SymlinkIfPossible("b", "a")) },
		}, []string{"modified a new=symlink s1"}},
		{"move out and remove the rest", []op{
			func(s *stage.Stage) error { return s.Rename("d/g/h", "h") },
			func(s *stage.Stage) error { return s.RemoveAll("d") },
		}, []string{"deleted d old=dir s2", "deleted d/f s2", "deleted d/g old=dir s2", "renamed h from d/g/h s1"}},
		{"chmod", []op{func(s *stage.Stage) error { return errors.Join(s.Chmod("a", 0o600), s.Chmod("d", 0o700)) }}, []string{
			"modified a s1", "modified d old=dir new=dir s1",
		}},
		{"chmod and back", []op{
			func(s *stage.Stage) error { return s.Chmod("a", 0o600) },
			func(s *stage.Stage) error { return s.Chmod("a", 0o644) },
		}, []string{}},
		{"time set", []op{func(s *stage.Stage) error { return s.Chtimes("a", time.Time{}, time.Unix(1, 0)) }}, []string{"modified a s1"}},
		{"opened for writing, nothing written", []op{func(s *stage.Stage) error {
			f, err := s.OpenFile("a", os.O_RDWR, 0)
			return errors.Join(err, f.Close())
		}}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := fstest.Plant(t, "a", "b", "d/f", "d/g/h")
			fstest.Must(t, base.Chmod("d", os.ModeDir|0o755))
			s := stage.New(base)
			start := s.Savepoint()
			for i, op := range tt.ops {
				fstest.Must(t, op(s.For(fmt.Sprintf("s%d", i+1), false)))
			}
			if diff := cmp.Diff(tt.want, outline(changesOf(t, s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			s.Rollback(start)
			if got := outline(changesOf(t, s)); len(got) > 0 {
				t.Errorf("after rolling back: %q", got)
			}
		})
	}
}

func TestChangedSince(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "a", "b", "d/f", "d/g/h", "m/f", "m/g"))
	var got [][]string
	for _, op := range []func() error{
		func() error { return s.Edit("a", []change.Splice{cut(0, 1, "C")}) },
		func() error { return s.Rename("d", "e") },
		func() error { return s.Copy("e/f", "copy") },
		func() error { return s.RemoveAll("e") },
		func() error {
			return errors.Join(s.Rename("a", "t"), s.Rename("b", "a"), s.Rename("t", "b"))
		},
		func() error { return errors.Join(s.Rename("a", "t"), s.Rename("t", "a")) },
		func() error { return errors.Join(s.Mkdir("x", 0o755), s.Chmod("x", 0o700)) },
		func() error { return s.Chmod("b", 0o600) },
		func() error { return errors.Join(s.Rename("m", "n"), s.Remove("n/f")) },
	} {
		point := s.Savepoint()
		fstest.Must(t, op())
		got = append(got, s.ChangedSince(point))
	}
	want := [][]string{{"a"}, {"e/f", "e/g/h"}, {"copy"}, {"e/f", "e/g/h"}, {"a", "b"}, nil, nil, {"b"}, {"m/f", "n/g"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "copy", "d/f", "d/g/h", "m/f", "n/g"},
		s.ChangedSince(stage.Savepoint{})); diff != "" {
		t.Errorf("since the start (-want +got):\n%s", diff)
	}
}

func TestChangeStates(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, "a", "b")
	fstest.Must(t, base.Chmod("a", 0o640))
	s := stage.New(base)
	fstest.Must(t, s.For("swap", false).Edit("a", []change.Splice{cut(0, 7, "CONTENT")}))
	fstest.Must(t, s.Rename("a", "b"))
	c := changesOf(t, s)[0]
	read := func(open func() (io.ReadCloser, error)) string {
		r, err := open()
		fstest.Must(t, err)
		defer r.Close()
		data, err := io.ReadAll(r)
		fstest.Must(t, err)
		return string(data)
	}
	const oldText, newText, other = "content of a\n", "CONTENT of a\n", "content of b\n"
	if got := read(c.OpenOld); got != oldText || c.Old.Hash != change.HashOf([]byte(oldText)) || c.Old.Mode != 0o640 ||
		c.Old.Size != 13 {
		t.Errorf("old: %q, %+v", got, c.Old)
	}
	if got := read(c.OpenNew); got != newText || c.New.Hash != change.HashOf([]byte(newText)) || c.New.Mode != 0o640 ||
		c.New.Size != 13 {
		t.Errorf("new: %q, %+v", got, c.New)
	}
	if c.Replaced.Hash != change.HashOf([]byte(other)) || c.Replaced.Mode != 0o644 {
		t.Errorf("replaced: %+v", c.Replaced)
	}
	info, err := base.Stat("a")
	fstest.Must(t, err)
	if !c.Old.ModTime.Equal(info.ModTime()) || !c.New.ModTime.After(info.ModTime()) {
		t.Errorf("times %v and %v, the base has %v", c.Old.ModTime, c.New.ModTime, info.ModTime())
	}
	want := []change.Splice{{Off: 0, Len: 7, Text: []byte("CONTENT"), By: []change.Origin{{Step: "swap"}}}}
	if diff := cmp.Diff(want, c.Splices); diff != "" {
		t.Errorf("splices (-want +got):\n%s", diff)
	}
}

func TestNewModes(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "exec"))
	fstest.Must(t, s.Chmod("exec", 0o755))
	fstest.Must(t, s.Copy("exec", "copy"))
	fstest.Must(t, s.Chmod("exec", 0o755|fs.ModeSetuid|fs.ModeSetgid))
	fstest.Must(t, s.Copy("exec", "plain"))
	fstest.Must(t, afero.WriteFile(s, "open", nil, 0o666))
	fstest.Must(t, s.Mkdir("dir", 0o777))
	fstest.Must(t, s.Chmod("dir", 0o777|os.ModeSetgid))
	for name, want := range map[string]fs.FileMode{"copy": 0o755, "plain": 0o755, "open": 0o644,
		"dir": fs.ModeDir | fs.ModeSetgid | 0o777} {
		if info, err := s.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestChown(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "a"))
	if err := s.Chown("a", -1, -1); err != nil {
		t.Error(err)
	}
	if err := s.Chown("a", 12345, 12345); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error = %v, want ErrUnsupported", err)
	}
}

func TestStageWithoutBase(t *testing.T) {
	t.Parallel()
	s := stage.New(nil)
	for _, a := range attempts {
		if err := a.do(s, "ok/file"); !errors.Is(err, names.ErrNoFs) {
			t.Errorf("%s: error = %v, want ErrNoFs", a.name, err)
		}
	}
	if _, err := s.Changes(); !errors.Is(err, names.ErrNoFs) {
		t.Errorf("error = %v, want ErrNoFs", err)
	}
	if got := s.ChangedSince(s.Savepoint()); got != nil || s.Base() != nil {
		t.Errorf("got %q, %v", got, s.Base())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsNameWhatWasAsked(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "d/f"))
	_, err := s.Open("./d//absent")
	pathErr, ok := errors.AsType[*fs.PathError](err)
	if !ok || pathErr.Op != "open" || pathErr.Path != "./d//absent" {
		t.Errorf("error = %#v", err)
	}
	err = s.Rename("d", "d/f/x")
	linkErr, ok := errors.AsType[*os.LinkError](err)
	if !ok || linkErr.Old != "d" || linkErr.New != "d/f/x" || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error = %v", err)
	}
}

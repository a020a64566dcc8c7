package commit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/commit"
)

func fileState(content string) change.State {
	return change.State{Kind: change.File, Mode: 0o644, Size: int64(len(content)), Hash: change.HashOf([]byte(content)), ModTime: longAgo}
}

// TestApply_refusesChanges commits lists that no stage makes, but that a program or a stored plan may contain.
func TestApply_refusesChanges(t *testing.T) {
	t.Parallel()
	one, two := fileState("a1"), fileState("other")
	created := func(path string) change.Change {
		c := change.Change{Kind: change.Created, Path: path, New: two}
		c.NewBytes = backing.Bytes([]byte("other"))
		return c
	}
	tests := []struct {
		name    string
		changes []change.Change
		options func(o *commit.Options)
		want    string
	}{
		{"a path twice", []change.Change{created("n"), created("n")}, nil, `two changes of "n"`},
		{"two old states of one path", []change.Change{
			{Kind: change.Renamed, Path: "x", From: "a", Old: one, New: one},
			{Kind: change.Deleted, Path: "a", Old: two},
		}, nil, `contradict each other about what is at "a"`},
		{"two states of a replaced path", []change.Change{
			{Kind: change.Renamed, Path: "x", From: "a", Old: one, New: one},
			{Kind: change.Renamed, Path: "a", From: "b", Old: one, New: one, Replaced: two},
		}, nil, `contradict each other about what is at "a"`},
		{"rename of nothing", []change.Change{{Kind: change.Renamed, Path: "x", From: "y"}}, nil, "contradicts itself"},
		{"run id", []change.Change{created("n")}, func(o *commit.Options) { o.RunID = "../x" }, `run id "../x" is not usable`},
		{"id", []change.Change{created("n")}, func(o *commit.Options) { o.ID = "x/../.." }, `transaction id "x/../.." is not usable`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			plant(t, fsys, "a=1", "b=2")
			before := everything(t, fsys)
			o := options(fsys)
			if tt.options != nil {
				tt.options(&o)
			}
			if _, err := commit.Apply(bg, o, tt.changes); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(before, everything(t, fsys)); diff != "" {
				t.Errorf("something was touched:\n%s", diff)
			}
		})
	}
}

// TestApply_nothingChanges commits changes without effect, so nothing is written, not even in the state directory.
func TestApply_nothingChanges(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	plant(t, fsys, "a=1")
	rep, err := commit.Apply(bg, options(fsys), []change.Change{
		{Kind: change.Modified, Path: "a", Old: fileState("a1"), New: fileState("a1")},
		{Kind: change.Modified, Path: "n"},
	})
	if err != nil || rep.ID != "" {
		t.Errorf("%+v, %v", rep, err)
	}
	if diff := cmp.Diff([]string{"a"}, namesOf(everything(t, fsys))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func namesOf(tree map[string]string) []string {
	var names []string
	for name := range tree {
		names = append(names, name)
	}
	return names
}

// TestApply_renameWithoutTime commits a rename without a time: the file keeps its own.
func TestApply_renameWithoutTime(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		fsys := make(t)
		plant(t, fsys, "a=1")
		to := fileState("a1")
		to.ModTime = time.Time{}
		c := change.Change{Kind: change.Renamed, Path: "n", From: "a", Old: fileState("a1"), New: to}
		if _, err := commit.Apply(bg, options(fsys), []change.Change{c}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info, err := fsys.Stat("n")
		if err != nil || !info.ModTime().Equal(longAgo) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if ok, _ := afero.Exists(fsys, "a"); ok {
			t.Errorf("%s: a is left", name)
		}
	}
}

func TestApply_refusesPaths(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	s := change.State{Kind: change.File, Mode: 0o644, Hash: change.HashOf(nil)}
	for _, p := range []string{"../x", ".git/hooks/x", ".millrace/x", "/x", "a//b", "."} {
		c := change.Change{Kind: change.Created, Path: p, New: s}
		c.NewBytes = backing.Bytes(nil)
		if _, err := commit.Apply(bg, options(fsys), []change.Change{c}); err == nil {
			t.Errorf("%s was taken", p)
		}
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory was made")
	}
}

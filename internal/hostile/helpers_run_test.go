package hostile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/raise"
)

// obj is a JSON object.
type obj = map[string]any

// act returns a step: its id is the action's name, unless there is an "id" among the fields next to the parameters.
func act(action string, params obj, fields ...obj) obj {
	step := obj{"id": action, "action": action, "params": params}
	for _, f := range fields {
		maps.Copy(step, f)
	}
	return step
}

// pipeline returns the JSON text of a pipeline.
func pipeline(t *testing.T, steps ...obj) []byte {
	t.Helper()
	data, err := json.Marshal(obj{"name": "hostile", "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decoded reads a pipeline that must be valid.
func decoded(t *testing.T, steps ...obj) millrace.Pipeline {
	t.Helper()
	data := pipeline(t, steps...)
	p, err := millrace.Decode(data)
	if err != nil {
		t.Fatalf("%s\n%v", data, err)
	}
	return p
}

// host is the executor of the tests: without fsync, because no test here is about power failures.
func host() millrace.Executor { return millrace.Executor{State: millrace.State{NoSync: true}} }

// run runs the steps as a JSON pipeline, and checks that neither result nor error contains a secret.
func (b *backend) run(t *testing.T, steps ...obj) (*millrace.Result, error) {
	t.Helper()
	res, err := b.host.Run(t.Context(), b.fs, decoded(t, steps...))
	checkSilent(t, res, err)
	return res, err
}

// works runs the steps, which must succeed. On a backend that cannot commit it is a dry run.
func (b *backend) works(t *testing.T, steps ...obj) *millrace.Result {
	t.Helper()
	x := b.host
	x.DryRun = !b.commits
	res, err := x.Run(t.Context(), b.fs, decoded(t, steps...))
	checkSilent(t, res, err)
	if err != nil {
		t.Fatalf("%s\n%v", pipeline(t, steps...), err)
	}
	return res
}

// dry plans the steps, which must succeed and write nothing.
func (b *backend) dry(t *testing.T, steps ...obj) *millrace.Result {
	t.Helper()
	before := b.snapshot(t)
	plan, err := b.host.Plan(t.Context(), b.fs, decoded(t, steps...))
	if err != nil {
		t.Fatalf("%s\n%v", pipeline(t, steps...), err)
	}
	checkSilent(t, plan.Result(), nil)
	b.unchanged(t, before)
	return plan.Result()
}

// refuses plans the steps and runs them, and checks the error of the last step: typed, naming its step and the path,
// with nothing written. Without a wanted error it must be an *actions.FileError.
func (b *backend) refuses(t *testing.T, want error, path string, steps ...obj) {
	t.Helper()
	before := b.snapshot(t)
	text := pipeline(t, steps...)
	p, err := millrace.Decode(text)
	if err != nil {
		t.Errorf("%s\nis refused before it is run: %v", text, err)
		return
	}
	last := steps[len(steps)-1]["id"].(string)
	plan, perr := b.host.Plan(t.Context(), b.fs, p)
	res, err := b.host.Run(t.Context(), b.fs, p)
	for what, err := range map[string]error{"plan": perr, "run": err} {
		step, ok := errors.AsType[*millrace.StepError](err)
		_, ofFile := errors.AsType[*actions.FileError](err)
		switch {
		case err == nil:
			t.Errorf("%s %s\nsucceeds, want %v", what, text, want)
		case want == nil && !ofFile, want != nil && !errors.Is(err, want):
			t.Errorf("%s %s\nerror %v, want %v", what, text, err, want)
		case !ok || step.Step != last:
			t.Errorf("%s %s\nerror %#v is not an error of step %q", what, text, err, last)
		case path != "" && !strings.Contains(err.Error(), path):
			t.Errorf("%s %s\nerror %q does not name %q", what, text, err, path)
		}
	}
	if plan != nil {
		checkSilent(t, plan.Result(), perr)
	}
	checkSilent(t, res, err)
	if res != nil && (res.Success || res.Commit.State != millrace.CommitNone) {
		t.Errorf("%s\nresult %+v", text, res)
	}
	b.unchanged(t, before)
}

// unchanged fails the test if the tree differs from the snapshot, including the state directory.
func (b *backend) unchanged(t *testing.T, before map[string]string) {
	t.Helper()
	after := b.snapshot(t)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			t.Errorf("%q was %s, is %s", name, before[name], after[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == "" {
			t.Errorf("%q was made: %s", name, after[name])
		}
	}
}

// snapshot describes the whole tree by path: kind, mode, bytes, time, target of links; of directories kind and mode.
func (b *backend) snapshot(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	if b.dir != "" {
		all = snapshotDir(t, b.dir)
	}
	if b.layer == nil {
		return all
	}
	layer, err := raise.FS(b.layer)
	if err != nil {
		t.Fatal(err)
	}
	err = afero.Walk(layer, ".", func(path string, info fs.FileInfo, err error) error {
		if err != nil || path == "." {
			return err
		}
		all[path+" in memory"], err = describe(info, func() ([]byte, error) { return afero.ReadFile(layer, path) }, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// snapshotDir describes a directory of the operating system, without the content of some directories in it.
func snapshotDir(t *testing.T, dir string, without ...string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)], err = describe(info, func() ([]byte, error) { return os.ReadFile(path) },
			func() (string, error) { return os.Readlink(path) })
		if err == nil && d.IsDir() && slices.Contains(without, name) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func describe(info fs.FileInfo, read func() ([]byte, error), readlink func() (string, error)) (string, error) {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		data, err := read()
		return fmt.Sprintf("%v %s %q", mode, info.ModTime().UTC().Format(time.RFC3339Nano), data), err
	case mode&fs.ModeSymlink != 0:
		target, err := readlink()
		return "link to " + target, err
	default:
		return mode.String(), nil
	}
}

// content returns the bytes of a file of the tree, through the file system of the run.
func (b *backend) content(t *testing.T, name string) string {
	t.Helper()
	data, err := afero.ReadFile(b.fs, name)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// has reports whether an entry has the name.
func (b *backend) has(name string) bool {
	if b.dir != "" && b.name != "overlay" {
		_, err := os.Lstat(b.path(name))
		return err == nil
	}
	_, err := b.fs.Stat(name)
	return err == nil
}

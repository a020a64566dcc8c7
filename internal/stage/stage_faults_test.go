package stage_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// faultyOps are operations on a stage over the tree of faultyBase. They return a description of their result.
var faultyOps = []struct {
	name string
	do   func(s *stage.Stage) (string, error)
}{
	{"lstat", func(s *stage.Stage) (string, error) {
		info, _, err := s.LstatIfPossible("d/e/h")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(info.Name(), info.Mode(), info.Size()), nil
	}},
	{"stat through links", func(s *stage.Stage) (string, error) {
		_, err := s.Stat("way/h")
		return "", err
	}},
	{"resolve", func(s *stage.Stage) (string, error) { return s.Resolve("link") }},
	{"read", func(s *stage.Stage) (string, error) {
		data, err := s.ReadFile("link")
		return string(data), err
	}},
	{"read a stream", func(s *stage.Stage) (string, error) {
		f, err := s.Open("d/g")
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(f)
		return string(data), errors.Join(err, f.Close())
	}},
	{"read an edited stream", func(s *stage.Stage) (string, error) {
		if err := s.Edit("f", []change.Splice{cut(4, 3, "TWO")}); err != nil {
			return "", err
		}
		f, err := s.Open("f")
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(f)
		return string(data), errors.Join(err, f.Close())
	}},
	{"edit", func(s *stage.Stage) (string, error) {
		return "", s.Edit("link", []change.Splice{cut(0, 3, "ONE")})
	}},
	{"edit twice", func(s *stage.Stage) (string, error) {
		if err := s.Edit("f", []change.Splice{cut(0, 3, "ONE")}); err != nil {
			return "", err
		}
		return "", s.Edit("f", []change.Splice{cut(4, 3, "TWO")})
	}},
	{"write a part", func(s *stage.Stage) (string, error) {
		f, err := s.OpenFile("d/g", os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		_, err = f.WriteAt([]byte("TWO"), 4)
		return "", errors.Join(err, f.Close())
	}},
	{"truncate", func(s *stage.Stage) (string, error) {
		f, err := s.OpenFile("way/h", os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		return "", errors.Join(f.Truncate(5), f.Close())
	}},
	{"create", func(s *stage.Stage) (string, error) {
		return "", afero.WriteFile(s, "way/new", []byte("new"), 0o644)
	}},
	{"mkdir", func(s *stage.Stage) (string, error) { return "", s.Mkdir("way/new", 0o755) }},
	{"mkdirall", func(s *stage.Stage) (string, error) { return "", s.MkdirAll("way/a/b", 0o755) }},
	{"symlink", func(s *stage.Stage) (string, error) { return "", s.SymlinkIfPossible("f", "way/l") }},
	{"chmod", func(s *stage.Stage) (string, error) { return "", s.Chmod("link", 0o600) }},
	{"chown", func(s *stage.Stage) (string, error) { return "", s.Chown("link", -1, -1) }},
	{"copy", func(s *stage.Stage) (string, error) { return "", s.Copy("link", "way/copy") }},
	{"rename", func(s *stage.Stage) (string, error) { return "", s.Rename("d/e", "moved") }},
	{"rename onto a file", func(s *stage.Stage) (string, error) { return "", s.Rename("f", "d/g") }},
	{"remove", func(s *stage.Stage) (string, error) { return "", s.Remove("link") }},
	{"remove a directory", func(s *stage.Stage) (string, error) {
		if err := s.Remove("way/h"); err != nil {
			return "", err
		}
		return "", s.Remove("d/e")
	}},
	{"remove all", func(s *stage.Stage) (string, error) { return "", s.RemoveAll("d") }},
	{"list", func(s *stage.Stage) (string, error) {
		infos, err := afero.ReadDir(s, "way")
		return fmt.Sprint(len(infos)), err
	}},
	{"list names", func(s *stage.Stage) (string, error) {
		f, err := s.Open("d")
		if err != nil {
			return "", err
		}
		list, err := f.Readdirnames(-1)
		return fmt.Sprint(list), errors.Join(err, f.Close())
	}},
	{"list through a handle", func(s *stage.Stage) (string, error) {
		d, err := s.OpenDir("d")
		if err != nil {
			return "", err
		}
		entries, err := d.ReadDir()
		return fmt.Sprint(len(entries)), errors.Join(err, d.Close())
	}},
	{"open in a handle", func(s *stage.Stage) (string, error) {
		d, err := s.OpenDir("d")
		if err != nil {
			return "", err
		}
		defer d.Close()
		f, err := d.OpenFile("g")
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(f)
		return string(data), errors.Join(err, f.Close())
	}},
}

// outcome returns the changes and the new bytes of files as text.
func outcome(s *stage.Stage) (string, error) {
	changes, err := s.Changes()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s %s %v %v %d", c.Kind, c.From, c.Path, c.Old.Hash, c.New.Hash, len(c.Splices))
		if c.New.Kind == change.File {
			r, err := c.OpenNew()
			if err != nil {
				return "", err
			}
			data, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil {
				return "", err
			}
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// Each call that an operation makes fails once. The operation must report that, leave nothing open and nothing half
// done, and have the usual result when it is tried again: a failure must not be remembered as knowledge.
func TestStage_faults(t *testing.T) {
	t.Parallel()
	faults := 0
	for _, op := range faultyOps {
		want := func() [2]string {
			s := stage.New(faultyBase(t))
			stage.SetLimits(s, 1<<20, 0)
			got, err := op.do(s)
			fstest.Must(t, err)
			out, err := outcome(s)
			fstest.Must(t, err)
			return [2]string{got, out}
		}()
		for at := 1; ; at++ {
			base := faultyBase(t)
			s := stage.New(base)
			stage.SetLimits(s, 1<<20, 0)
			start := s.Savepoint()
			base.arm(at)
			_, err := op.do(s)
			hit, open := base.state()
			if hit == "" {
				break
			}
			faults++
			if !errors.Is(err, fstest.ErrDisk) {
				t.Errorf("%s, %s failed: %v", op.name, hit, err)
			}
			if open != 0 {
				t.Errorf("%s, %s failed: %d files are open", op.name, hit, open)
			}
			s.Rollback(start)
			if out, err := outcome(s); out != "" || err != nil {
				t.Errorf("%s, %s failed: after the rollback there are changes: %s, %v", op.name, hit, out, err)
			}
			got, err := op.do(s)
			out, outErr := outcome(s)
			if err = errors.Join(err, outErr); err != nil {
				t.Errorf("%s again after %s failed: %v", op.name, hit, err)
			}
			if diff := cmp.Diff(want, [2]string{got, out}); diff != "" {
				t.Errorf("%s again after %s failed (-want +got):\n%s", op.name, hit, diff)
			}
		}
	}
	t.Logf("%d faults in %d operations", faults, len(faultyOps))
}

// The same for Changes, and for reading the changed files, after each of the operations.
func TestStage_faultsInChanges(t *testing.T) {
	t.Parallel()
	faults := 0
	for _, op := range faultyOps {
		want := ""
		for at := 0; ; at++ { // 0 is without a fault
			base := faultyBase(t)
			s := stage.New(base)
			stage.SetLimits(s, 1<<20, 0)
			_, err := op.do(s)
			fstest.Must(t, err)
			base.arm(at)
			out, err := outcome(s)
			hit, open := base.state()
			if at == 0 {
				fstest.Must(t, err)
				want = out
				continue
			}
			if hit == "" {
				break
			}
			faults++
			if !errors.Is(err, fstest.ErrDisk) || open != 0 {
				t.Errorf("%s, %s failed: %v, %d files are open", op.name, hit, err, open)
			}
			if out, err := outcome(s); out != want || err != nil {
				t.Errorf("%s again after %s failed: %v (-want +got)\n%s", op.name, hit, err, cmp.Diff(want, out))
			}
		}
	}
	t.Logf("%d faults in %d operations", faults, len(faultyOps))
}

package fsutil_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// snapshot returns all that is in a file system as text: names, kinds, modes, times of files, contents.
func snapshot(t interface {
	Helper()
	Fatal(...any)
}, fsys afero.Fs, root string) string {
	t.Helper()
	var b strings.Builder
	err := afero.Walk(fsys, root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, err := afero.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime().UnixNano(), data)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(t *testing.T, fsys afero.Fs, name, data string) {
	t.Helper()
	if err := afero.WriteFile(fsys, name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func names(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// exchangeTest is about every file system that claims to exchange.
func exchangeTest(t *testing.T, fsys afero.Fs) {
	x := fsys.(fsutil.Exchanger)
	if err := fsys.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, fsys, "f", "file")
	write(t, fsys, "g", "other")
	write(t, fsys, "d/sub/in", "inside")
	exchange := func(a, b string) {
		t.Helper()
		if err := x.Exchange(a, b); errors.Is(err, errors.ErrUnsupported) {
			t.Skipf("names cannot be exchanged here: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	exchange("f", "g")
	if a, b := read(t, fsys, "f"), read(t, fsys, "g"); a != "other" || b != "file" {
		t.Errorf("after the exchange %q, %q", a, b)
	}
	exchange("f", "f")
	exchange("f", "d")
	if a, b := read(t, fsys, "d"), read(t, fsys, "f/sub/in"); a != "other" || b != "inside" {
		t.Errorf("after the exchange of file and directory %q, %q", a, b)
	}
	exchange("f/sub/in", "d")
	if a, b := read(t, fsys, "d"), read(t, fsys, "f/sub/in"); a != "inside" || b != "other" {
		t.Errorf("after the exchange between directories %q, %q", a, b)
	}
	for pair, want := range map[[2]string]func(error) bool{
		{"f", "none"}: fstest.IsNotExist, {"none", "f"}: fstest.IsNotExist, {"f", "f/sub"}: fstest.IsInvalid,
		{"f/sub", "f"}: fstest.IsInvalid, {"f", "d/x"}: fstest.IsNotDir, {"../f", "d"}: fstest.IsEscape,
	} {
		if err := x.Exchange(pair[0], pair[1]); err == nil || !want(err) || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Exchange(%q) = %v", pair, err)
		}
	}
	if diff := cmp.Diff([]string{"d", "f", "g"}, names(t, fsys, ".")); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func noReplaceTest(t *testing.T, fsys afero.Fs) {
	n := fsys.(fsutil.NoReplacer)
	write(t, fsys, "f", "1")
	write(t, fsys, "g", "2")
	if err := fsys.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"g", "d"} {
		if err := n.RenameNoReplace("f", to); errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		} else if !errors.Is(err, fs.ErrExist) {
			t.Errorf("RenameNoReplace onto %q = %v, want fs.ErrExist", to, err)
		}
	}
	if err := n.RenameNoReplace("f", "d/f"); err != nil {
		t.Fatal(err)
	}
	if err := n.RenameNoReplace("f", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("RenameNoReplace of nothing = %v", err)
	}
	if err := n.RenameNoReplace("d", "d/e"); !fstest.IsInvalid(err) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("RenameNoReplace into itself = %v", err)
	}
	if a, b := read(t, fsys, "d/f"), read(t, fsys, "g"); a != "1" || b != "2" {
		t.Errorf("files have %q, %q", a, b)
	}
}

func lockTest(t *testing.T, open func() afero.Fs) {
	a, b := open(), open()
	before := names(t, a, ".")
	lock, err := a.(fsutil.Locker).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fsys := range []afero.Fs{a, b} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := fsys.(fsutil.Locker).Lock(ctx)
		cancel()
		if !errors.Is(err, fsutil.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second Lock = %v, want ErrLocked", err)
		}
		if diff := cmp.Diff(before, names(t, fsys, ".")); diff != "" {
			t.Errorf("the lock shows (-want +got):\n%s", diff)
		}
	}
	write(t, a, "f", "written under the lock")

	got := make(chan error)
	go func() {
		second, err := b.(fsutil.Locker).Lock(t.Context())
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("the second Lock returned while the first was held: %v", err)
	case <-time.After(5 * time.Millisecond):
	}
	for range 2 { // once is enough, twice is no harm
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	third, err := a.(fsutil.Locker).Lock(canceled)
	if err != nil {
		t.Fatalf("a free lock with a context that is done: %v", err)
	}
	third.Close()
}

package fstest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
)

// CheckExchange checks the rules for every file system that claims to exchange names.
func CheckExchange(t *testing.T, fsys afero.Fs) {
	x := fsys.(capability.Exchanger)
	if err := fsys.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	Write(t, fsys, "f", "file")
	Write(t, fsys, "g", "other")
	Write(t, fsys, "d/sub/in", "inside")
	exchange := func(a, b string) {
		t.Helper()
		if err := x.Exchange(a, b); errors.Is(err, errors.ErrUnsupported) {
			t.Skipf("names cannot be exchanged here: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	exchange("f", "g")
	if a, b := Read(t, fsys, "f"), Read(t, fsys, "g"); a != "other" || b != "file" {
		t.Errorf("after the exchange %q, %q", a, b)
	}
	exchange("f", "f")
	exchange("f", "d")
	if a, b := Read(t, fsys, "d"), Read(t, fsys, "f/sub/in"); a != "other" || b != "inside" {
		t.Errorf("after the exchange of file and directory %q, %q", a, b)
	}
	exchange("f/sub/in", "d")
	if a, b := Read(t, fsys, "d"), Read(t, fsys, "f/sub/in"); a != "inside" || b != "other" {
		t.Errorf("after the exchange between directories %q, %q", a, b)
	}
	for pair, want := range map[[2]string]func(error) bool{
		{"f", "none"}: IsNotExist, {"none", "f"}: IsNotExist, {"f", "f/sub"}: IsInvalid,
		{"f/sub", "f"}: IsInvalid, {"f", "d/x"}: IsNotDir, {"../f", "d"}: IsEscape,
	} {
		if err := x.Exchange(pair[0], pair[1]); err == nil || !want(err) || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Exchange(%q) = %v", pair, err)
		}
	}
	if want, got := []string{"d", "f", "g"}, List(t, fsys, "."); !slices.Equal(want, got) {
		t.Errorf("left: %q, want %q", got, want)
	}
}

func CheckNoReplace(t *testing.T, fsys afero.Fs) {
	n := fsys.(capability.NoReplacer)
	Write(t, fsys, "f", "1")
	Write(t, fsys, "g", "2")
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
		t.Errorf("RenameNoReplace of a missing name = %v", err)
	}
	if err := n.RenameNoReplace("d", "d/e"); !IsInvalid(err) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("RenameNoReplace into itself = %v", err)
	}
	if a, b := Read(t, fsys, "d/f"), Read(t, fsys, "g"); a != "1" || b != "2" {
		t.Errorf("files have %q, %q", a, b)
	}
}

func CheckLock(t *testing.T, open func() afero.Fs) {
	a, b := open(), open()
	before := List(t, a, ".")
	lock, err := a.(capability.Locker).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fsys := range []afero.Fs{a, b} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := fsys.(capability.Locker).Lock(ctx)
		cancel()
		if !errors.Is(err, capability.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second Lock = %v, want ErrLocked", err)
		}
		if want, got := before, List(t, fsys, "."); !slices.Equal(want, got) {
			t.Errorf("the lock is visible: %q, want %q", got, want)
		}
	}
	Write(t, a, "f", "written under the lock")

	got := make(chan error)
	go func() {
		second, err := b.(capability.Locker).Lock(t.Context())
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
	for range 2 { // repeating it is allowed
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	third, err := a.(capability.Locker).Lock(canceled)
	if err != nil {
		t.Fatalf("a free lock with a context that is done: %v", err)
	}
	third.Close()
}

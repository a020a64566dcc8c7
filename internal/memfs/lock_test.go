package memfs_test

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A lock in memory belongs to the process and to one tree: nothing in the tree counts as a lock.
func TestMemFs_Lock_broughtAlong(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel() // a free lock is granted even after the context has ended
	lock := func(what string, fsys afero.Fs) {
		t.Helper()
		held, err := fstest.Raise(t, fsys).(capability.Locker).Lock(done)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		held.Close()
	}
	planted := afero.NewMemMapFs()
	for _, name := range []string{"/.millrace.lock", ".millrace.lock", "/.millrace/lock"} {
		if err := planted.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lock("planted", planted)
	if list := fstest.List(t, fstest.Raise(t, planted), "."); len(list) != 2 {
		t.Errorf("the tree has %q, want .millrace and .millrace.lock", list)
	}

	held, err := fstest.Raise(t, planted).(capability.Locker).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	copied, seen := afero.NewMemMapFs(), 0
	err = afero.Walk(planted, "/", func(name string, info fs.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			seen++
			err = copied.MkdirAll(name, os.ModePerm)
		}
		return err
	})
	if err != nil || seen < 4 {
		t.Fatalf("%d directories copied, %v", seen, err)
	}
	lock("a copy of a tree that is locked", copied)
}

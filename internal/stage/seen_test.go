package stage_test

import (
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestStage_linkName: the FileInfo that Stat returns for a link has the name of the link.
func TestStage_linkName(t *testing.T) {
	t.Parallel()
	base := fstest.Plant(t, "dir/file")
	s := stage.New(base)
	fstest.Must(t, s.SymlinkIfPossible("dir/file", "link"))
	fstest.Must(t, s.SymlinkIfPossible("dir", "way"))
	for name, want := range map[string]string{"link": "link", "way": "way", "way/file": "file", "way/": "way",
		"./dir/../link": "link"} {
		info, err := s.Stat(name)
		if err != nil || info.Name() != want {
			t.Errorf("Stat(%q) is called %v, %v", name, info, err)
		}
	}
}

// TestStage_writtenAgain: each write to a file, by any method, gives it a new time.
func TestStage_writtenAgain(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, "old"))
	open := func(name string, flag int) error {
		f, err := s.OpenFile(name, flag, 0o644)
		if err == nil {
			_, err = f.WriteString("x")
		}
		if err == nil {
			err = f.Close()
		}
		return err
	}
	ways := map[string]func(name string) error{
		"whole":  func(name string) error { return afero.WriteFile(s, name, []byte("text"), 0o644) },
		"append": func(name string) error { return open(name, os.O_APPEND|os.O_WRONLY) },
		"begin":  func(name string) error { return open(name, os.O_RDWR) },
		"edit":   func(name string) error { return s.Edit(name, []change.Splice{{Text: []byte("y")}}) },
	}
	for _, name := range []string{"old", "new"} {
		if name == "new" {
			fstest.Must(t, afero.WriteFile(s, name, []byte("text"), 0o644))
		}
		last := time.Time{}
		for range 2 {
			for way, write := range ways {
				fstest.Must(t, write(name))
				info, err := s.Stat(name)
				if err != nil || !info.ModTime().After(last) {
					t.Errorf("%s of %s: %v, was %v, %v", way, name, info.ModTime(), last, err)
				}
				last = info.ModTime()
			}
		}
	}
}

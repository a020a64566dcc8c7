package millracetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Work is a change of the directory of an agent or a command. The zero Work changes nothing.
type Work struct {
	// Files is a text for [Tree]. Its files are written and replace existing files.
	Files string
	// Remove are paths to remove, directories with their contents. An absent path fails the test.
	Remove []string
}

// isZero reports whether nothing changes.
func (w Work) isZero() bool { return w.Files == "" && len(w.Remove) == 0 }

// do changes the directory.
func (w Work) do(dir string) error {
	all, err := parseTree(txtarfs.Parse([]byte(w.Files)).Files)
	if err != nil {
		return err
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range w.Remove {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	for _, e := range all {
		if e.link != "" {
			if err := root.RemoveAll(e.name); err != nil {
				return err
			}
		}
		if err := e.plant(root); err != nil {
			return err
		}
	}
	return nil
}

// script counts the uses of its lines, and fails the test if a line was used too few times.
type script struct {
	t     testing.TB
	kind  string
	names []string

	mu   sync.Mutex
	left []int
	over bool
}

// newScript makes a script of n lines. times is how often a line must be used; less than 1 means once.
func newScript(t testing.TB, kind string, n int, line func(i int) (name string, times int)) *script {
	t.Helper()
	s := &script{t: t, kind: kind}
	for i := range n {
		name, times := line(i)
		s.names, s.left = append(s.names, name), append(s.left, max(1, times))
	}
	t.Cleanup(func() {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
		for i, left := range s.left {
			if left > 0 {
				t.Errorf("millracetest: the %s %q was expected %d times more", s.kind, s.names[i], left)
			}
		}
	})
	return s
}

// use returns the first unused line that matches. asked is for the message of a failure.
func (s *script) use(asked string, matches func(i int) bool) (int, bool) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	usedUp := false
	for i := range s.left {
		if !matches(i) {
			continue
		}
		if s.left[i] > 0 {
			s.left[i]--
			return i, true
		}
		usedUp = true
	}
	switch {
	case s.over: // a test cannot fail after its end
	case usedUp:
		s.t.Errorf("millracetest: the %s %q came more often than expected", s.kind, asked)
	default:
		s.t.Errorf("millracetest: the %s %q was not expected; the script has %q", s.kind, asked, s.names)
	}
	return 0, false
}

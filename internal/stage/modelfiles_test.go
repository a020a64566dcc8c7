//go:build linux

package stage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/stage"
)

func (m *model) open(view *stage.Stage, name string) {
	flags := []int{
		os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
		os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_TRUNC,
	}
	flag := rapid.SampledFrom(flags).Draw(m.T, "flag")
	staged, err := view.OpenFile(name, flag, 0o644)
	full := filepath.Join(m.dir, name)
	if flag&os.O_CREATE != 0 && m.isDangling(name, err) {
		return
	}
	var real *os.File
	m.same("open", err, func() error {
		var err error
		real, err = os.OpenFile(full, flag, 0o644)
		return err
	})
	if err != nil {
		return
	}
	if info, err := staged.Stat(); err != nil || info.IsDir() {
		m.check(err)
		staged.Close()
		real.Close()
		return
	}
	m.files = append(m.files, modelFile{staged, real})
}

// isDangling reports whether the stage refused to make a file through a dangling link. The system would make it.
func (m *model) isDangling(name string, err error) bool {
	_, statErr := os.Lstat(filepath.Join(m.dir, name))
	return errors.Is(err, fs.ErrNotExist) && statErr == nil
}

func (m *model) useHandle() {
	if len(m.files) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.files)-1).Draw(m.T, "file")
	f := m.files[i]
	var got, want string
	both := func(do func(f afero.File) (any, error)) {
		a, err := do(f.staged)
		got = fmt.Sprint(a, err == nil, err == io.EOF)
		a, err = do(f.real)
		want = fmt.Sprint(a, err == nil, err == io.EOF)
	}
	text, n := m.text(), int64(rapid.IntRange(0, 12).Draw(m.T, "n"))
	op := rapid.SampledFrom([]string{"read", "write", "writeat", "truncate", "seek", "readat", "size", "close"}).Draw(m.T,
		"do")
	switch op {
	case "read":
		both(func(f afero.File) (any, error) {
			p := make([]byte, n+1)
			k, err := f.Read(p)
			return p[:max(k, 0)], err
		})
	case "write":
		both(func(f afero.File) (any, error) { return f.Write(text) })
	case "writeat":
		both(func(f afero.File) (any, error) { return f.WriteAt(append(text, 0), n) })
	case "truncate":
		both(func(f afero.File) (any, error) { return nil, f.Truncate(n) })
	case "seek":
		whence := rapid.IntRange(0, 2).Draw(m.T, "whence")
		both(func(f afero.File) (any, error) { return f.Seek(n-3, whence) })
	case "readat":
		both(func(f afero.File) (any, error) {
			p := make([]byte, 4)
			k, err := f.ReadAt(p, n)
			return p[:max(k, 0)], err
		})
	case "size":
		both(func(f afero.File) (any, error) {
			info, err := f.Stat()
			if err != nil {
				return nil, err
			}
			return info.Size(), nil
		})
	case "close":
		both(func(f afero.File) (any, error) { return nil, f.Close() })
		m.files = slices.Delete(m.files, i, i+1)
	}
	if got != want && !strings.HasPrefix(want, "-1") {
		m.Fatalf("%s: got %s, want %s", op, got, want)
	}
}

func (m *model) closeAll() {
	for _, f := range m.files {
		f.staged.Close()
		f.real.Close()
	}
	m.files = nil
}

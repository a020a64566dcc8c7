package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Digest describes the files of a tree.
type Digest struct {
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the sorted lines of name, mode and SHA-256 of the content
}

func (d Digest) String() string {
	return fmt.Sprintf("%d files, %d bytes, sha256 %.12s", d.Files, d.Bytes, d.SHA256)
}

// stateDir is the directory of millrace's backups. It is not compared.
const stateDir = ".millrace"

// plainFiles returns the slash names of all files below dir but for the state directory. Anything but directories and
// plain files is an error: a corpus has none.
func plainFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == stateDir:
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
		rel, err := filepath.Rel(dir, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

// each calls f for each of n numbers from as many goroutines as there are processors, and returns the errors joined.
func each(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				if err := f(i); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// digest reads a whole tree.
func digest(dir string) (Digest, error) {
	names, err := plainFiles(dir)
	if err != nil {
		return Digest{}, err
	}
	lines := make([]string, len(names))
	sizes := make([]int64, len(names))
	err = each(len(names), func(i int) error {
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(names[i])))
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		h := sha256.New()
		if sizes[i], err = io.Copy(h, f); err != nil {
			return err
		}
		lines[i] = fmt.Sprintf("%q %o %x\n", names[i], info.Mode().Perm(), h.Sum(nil))
		return nil
	})
	if err != nil {
		return Digest{}, err
	}
	d := Digest{Files: len(names)}
	h := sha256.New()
	for i, line := range lines {
		d.Bytes += sizes[i]
		io.WriteString(h, line)
	}
	d.SHA256 = hex.EncodeToString(h.Sum(nil))
	return d, nil
}

// copyTree copies the plain files of a tree, with modes for a user to work with: the module cache has no write bits.
// Links are left out.
func copyTree(from, to string) error {
	var names []string
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case d.Type().IsRegular():
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(len(names),
		func(i int) error { return copyFile(filepath.Join(from, names[i]), filepath.Join(to, names[i])) })
}

// copyFile lets the kernel copy a file if possible.
func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return cmp.Or(err, dst.Close())
}

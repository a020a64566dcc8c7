package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// treeHash hashes names, modes, link targets and bytes of everything below dir except the state of millrace.
func treeHash(dir string) (string, error) {
	sum := sha256.New()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".millrace" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %v\n", name, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q\n", target)
			return err
		case info.Mode().IsRegular():
			files++
			return hashFile(sum, path)
		}
		return nil
	})
	return fmt.Sprintf("%x (%d files)", sum.Sum(nil)[:16], files), err
}

func hashFile(sum io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(sum, f)
	fmt.Fprintf(sum, "\n%d\n", n)
	return err
}

// Package txtarfs stores small trees of files in one text, for tests and examples.
//
// The format is that of Go's txtar: a comment, then files, each after a line "-- name --". In a text read by [Parse], a
// file whose name ends in "\" and "r" has all its line ends converted to CR LF, and a file whose name ends in "\" and
// "n" loses its final newline. Both are removed from the name. So such files can be written in an editor that would
// otherwise correct them.
package txtarfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

// File is one file of an archive.
type File struct {
	Name string
	Data []byte
}

// Archive is a comment and files in the order of the text.
type Archive struct {
	Comment string
	Files   []File
}

// Parse reads an archive. Every text is an archive, perhaps only a comment.
func Parse(data []byte) Archive {
	var a Archive
	comment, name, rest := next(data)
	a.Comment = string(comment)
	for name != "" {
		var body []byte
		file := name
		body, name, rest = next(rest)
		body = bytes.Clone(body)
		for {
			if base, ok := strings.CutSuffix(file, `\r`); ok {
				file, body = base, bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
			} else if base, ok := strings.CutSuffix(file, `\n`); ok {
				file, body = base, bytes.TrimSuffix(body, []byte("\n"))
			} else {
				break
			}
		}
		a.Files = append(a.Files, File{file, body})
	}
	return a
}

// next splits data at the first marker line: the data before it, the name in the marker, the data after it.
func next(data []byte) (before []byte, name string, after []byte) {
	for at := 0; at < len(data); {
		line, _, found := bytes.Cut(data[at:], []byte("\n"))
		if bytes.HasPrefix(line, []byte("-- ")) && bytes.HasSuffix(line, []byte(" --")) && len(line) > len("--  --") {
			end := at + len(line)
			if found {
				end++
			}
			return data[:at], strings.TrimSpace(string(line[3 : len(line)-3])), data[end:]
		}
		at += len(line) + 1
	}
	return data, "", nil
}

// Get returns the bytes of a file of the archive.
func (a Archive) Get(name string) ([]byte, bool) {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Under returns the files below dir, without dir in their names.
func (a Archive) Under(dir string) []File {
	var files []File
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
			files = append(files, File{name, f.Data})
		}
	}
	return files
}

// Write writes files into a file system, with the directories they need.
func Write(fsys afero.Fs, files []File) error {
	for _, f := range files {
		if err := fsys.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
			return err
		}
		if err := afero.WriteFile(fsys, f.Name, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Read returns all regular files below the root, except those in the given directories, in path order.
func Read(fsys afero.Fs, without ...string) ([]File, error) {
	var files []File
	err := afero.Walk(fsys, ".", func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/")
		if info.IsDir() && slices.Contains(without, name) {
			return fs.SkipDir
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		data, err := afero.ReadFile(fsys, name)
		files = append(files, File{name, data})
		return err
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

// Format writes files as text, in a form that shows carriage returns and missing final newlines.
func Format(files []File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "-- %s --\n", f.Name)
		for line := range strings.SplitAfterSeq(string(f.Data), "\n") {
			b.WriteString(strings.ReplaceAll(line, "\r", "␍"))
		}
		if len(f.Data) > 0 && f.Data[len(f.Data)-1] != '\n' {
			b.WriteString("␃\n")
		}
	}
	return b.String()
}

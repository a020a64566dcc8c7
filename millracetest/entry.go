package millracetest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/txtarfs"
)

// entry is a file, a directory or a symbolic link of a tree.
type entry struct {
	name string
	mode fs.FileMode // permission bits
	said bool        // the text names the mode
	dir  bool
	link string // the target; "" if it is not a link
	data []byte
}

const (
	linkWord   = " -> "
	modeWord   = "mode="
	base64Word = "base64"
	fileMode   = 0o644
	dirMode    = 0o755
)

// parseTree reads the entries of a tree, in path order.
func parseTree(files []txtarfs.File) ([]entry, error) {
	var all []entry
	for _, f := range files {
		e, err := parseEntry(f)
		if err != nil {
			return nil, fmt.Errorf("-- %s --: %w", f.Name, err)
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(all); i++ {
		if all[i].name == all[i-1].name {
			return nil, fmt.Errorf("%s is there twice", all[i].name)
		}
	}
	return all, nil
}

// parseEntry parses one section.
func parseEntry(f txtarfs.File) (entry, error) {
	e := entry{name: f.Name, data: f.Data, mode: fileMode}
	if name, target, ok := strings.Cut(f.Name, linkWord); ok {
		e.name, e.link, e.data = name, target, nil
		if len(bytes.TrimSpace(f.Data)) > 0 {
			return e, errors.New("a link has no text")
		}
		return e, e.check()
	}
	for {
		i := strings.LastIndexByte(e.name, ' ')
		word := e.name[i+1:]
		bits, isMode := strings.CutPrefix(word, modeWord)
		if i < 0 || !isMode && word != base64Word {
			break
		}
		e.name = e.name[:i]
		if isMode {
			mode, err := strconv.ParseUint(bits, 8, 9)
			if err != nil {
				return e, fmt.Errorf("%q is not a mode such as mode=755", word)
			}
			e.mode, e.said = fs.FileMode(mode), true
			continue
		}
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(e.data)), ""))
		if err != nil {
			return e, err
		}
		e.data = data
	}
	if name, ok := strings.CutSuffix(e.name, "/"); ok {
		e.name, e.dir, e.data = name, true, nil
		if !e.said {
			e.mode = dirMode
		}
		if len(bytes.TrimSpace(f.Data)) > 0 {
			return e, errors.New("a directory has no text")
		}
	}
	return e, e.check()
}

// check refuses names that lead out of the tree, and names that the format reads as something else.
func (e entry) check() error {
	if !fs.ValidPath(e.name) || e.name == "." {
		return fmt.Errorf("%q is not a path below the tree such as dir/file.txt; put a '/' at the end of a directory",
			e.name)
	}
	return nil
}

// common reports whether a mode can be left out: the owner may read and write, and nobody may execute.
func (e entry) common() bool {
	if e.dir {
		return e.mode&0o700 == 0o700
	}
	return e.mode&0o600 == 0o600 && e.mode&0o111 == 0
}

// format writes the section of an entry below dir. withMode writes the mode even if it is common.
func (e entry) format(b *strings.Builder, dir string, withMode bool) error {
	name := path.Join(dir, e.name)
	if e.link != "" {
		name += linkWord + e.link
		fmt.Fprintf(b, "-- %s --\n", name)
		return nil
	}
	if e.dir {
		name += "/"
	}
	if withMode || !e.common() {
		name += fmt.Sprintf(" %s%03o", modeWord, e.mode)
	}
	plain, body := name, e.data
	if lines := bytes.Count(body, []byte("\r\n")); lines > 0 && lines == bytes.Count(body, []byte("\n")) {
		plain, body = plain+`\r`, bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	}
	if len(body) > 0 && body[len(body)-1] != '\n' {
		plain, body = plain+`\n`, append(bytes.Clone(body), '\n')
	}
	section := fmt.Appendf(nil, "-- %s --\n%s", plain, body)
	if !readsBack(section, dir, e) {
		text := base64.StdEncoding.EncodeToString(e.data)
		section = fmt.Appendf(nil, "-- %s %s --\n", name, base64Word)
		for part := range slices.Chunk([]byte(text), 76) {
			section = append(append(section, part...), '\n')
		}
		if !readsBack(section, dir, e) {
			return fmt.Errorf("an archive cannot have a file with the name %q", e.name)
		}
	}
	b.Write(section)
	return nil
}

// readsBack reports whether a section parses to the entry and is readable for people.
func readsBack(section []byte, dir string, e entry) bool {
	if !utf8.Valid(section) || bytes.ContainsAny(section, "\x00\r\x1b") {
		return false
	}
	files := txtarfs.Parse(section).Files
	if len(files) != 1 {
		return false
	}
	files[0].Name = strings.TrimPrefix(files[0].Name, dir+"/")
	got, err := parseEntry(files[0])
	return err == nil && got.name == e.name && got.dir == e.dir && bytes.Equal(got.data, e.data)
}

// formatTree writes all entries, without directories that contain entries.
func formatTree(all []entry, dir string, withMode func(name string) bool) (string, error) {
	var b strings.Builder
	for _, e := range all {
		if err := e.format(&b, dir, withMode(e.name)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

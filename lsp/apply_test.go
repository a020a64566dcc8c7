package lsp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/lsp"
)

// tree is a directory as an editor sees it: the content of each file, nil for a directory.
type tree map[string][]byte

// treeOf reads a tree without the files that millrace keeps in it.
func treeOf(t rapid.TB, fsys afero.Fs) tree {
	t.Helper()
	all := make(tree)
	var walk func(dir string)
	walk = func(dir string) {
		infos, err := afero.ReadDir(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			name := path.Join(dir, info.Name())
			switch {
			case name == ".millrace":
			case info.IsDir():
				all[name] = nil
				walk(name)
			case info.Mode().IsRegular():
				data, err := afero.ReadFile(fsys, name)
				if err != nil {
					t.Fatal(err)
				}
				all[name] = append([]byte{}, data...)
			}
		}
	}
	walk(".")
	return all
}

// operation is one element of documentChanges as a client reads it.
type operation struct {
	Kind, URI, OldURI, NewURI string
	TextDocument              struct {
		URI     string
		Version *int
	}
	Edits []lsp.TextEdit
}

// apply makes the changes in order and as strictly as possible: nothing is overwritten, and only empty directories are
// deleted.
func (all tree) apply(data []byte, root string, encoding lsp.Encoding) error {
	var edit struct{ DocumentChanges []operation }
	if err := json.Unmarshal(data, &edit); err != nil {
		return err
	}
	for _, o := range edit.DocumentChanges {
		if err := all.one(o, root, encoding); err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
	}
	return nil
}

func (all tree) one(o operation, root string, encoding lsp.Encoding) error {
	names := make([]string, 4)
	for i, uri := range []string{o.URI, o.OldURI, o.NewURI, o.TextDocument.URI} {
		if uri == "" {
			continue
		}
		u, err := url.Parse(uri)
		if err != nil {
			return err
		}
		var ok bool
		if names[i], ok = strings.CutPrefix(u.Path, root+"/"); !ok || u.Scheme != "file" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("%q is not in the root", uri)
		}
	}
	switch o.Kind {
	case "create":
		return all.put(names[0], []byte{})
	case "delete":
		if _, ok := all[names[0]]; !ok {
			return fmt.Errorf("there is no %s", names[0])
		}
		for name := range all {
			if strings.HasPrefix(name, names[0]+"/") {
				return fmt.Errorf("%s is not empty, it has %s", names[0], name)
			}
		}
		delete(all, names[0])
		return nil
	case "rename":
		data := all[names[1]]
		if data == nil {
			return fmt.Errorf("no file %s", names[1])
		}
		delete(all, names[1])
		return all.put(names[2], data)
	}
	data := all[names[3]]
	if data == nil || o.TextDocument.Version != nil {
		return fmt.Errorf("no text to edit")
	}
	text, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	now, err := edit(string(text), o.Edits, encoding)
	if marked {
		now = "\ufeff" + now
	}
	all[names[3]] = []byte(now)
	return err
}

// put creates a file, and the directories above it.
func (all tree) put(name string, data []byte) error {
	if _, ok := all[name]; ok {
		return fmt.Errorf("%s is there already", name)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if all[dir] != nil {
			return fmt.Errorf("%s is not a directory", dir)
		}
		all[dir] = nil
	}
	all[name] = data
	return nil
}

// edit applies edits to a text, from the last to the first.
func edit(text string, edits []lsp.TextEdit, encoding lsp.Encoding) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("no text: %q", text)
	}
	lines := linesOf(text)
	last := len(text)
	for _, e := range slices.Backward(edits) {
		start, err := offset(lines, e.Range.Start, encoding)
		if err != nil {
			return "", err
		}
		end, err := offset(lines, e.Range.End, encoding)
		if err != nil {
			return "", err
		}
		if start > end || end > last {
			return "", fmt.Errorf("edits out of order: %+v", edits)
		}
		text = text[:start] + e.NewText + text[end:]
		last = start
	}
	return text, nil
}

// linesOf splits a text after each line end.
func linesOf(text string) []string {
	var lines []string
	for {
		at := strings.IndexAny(text, "\r\n")
		if at < 0 {
			return append(lines, text)
		}
		if strings.HasPrefix(text[at:], "\r\n") {
			at++
		}
		lines = append(lines, text[:at+1])
		text = text[at+1:]
	}
}

// offset returns the offset of a position, which must not be inside a character or a "\r\n".
func offset(lines []string, p lsp.Position, encoding lsp.Encoding) (int, error) {
	if p.Line >= len(lines) {
		return 0, fmt.Errorf("no line %d", p.Line)
	}
	line, off := lines[p.Line], 0
	for _, l := range lines[:p.Line] {
		off += len(l)
	}
	body := strings.TrimRight(line, "\r\n")
	for i := 0; ; {
		var units int
		switch encoding {
		case lsp.UTF8:
			units = i
		case lsp.UTF32:
			units = len([]rune(body[:i]))
		default:
			units = len(utf16.Encode([]rune(body[:i])))
		}
		if units == p.Character {
			return off + i, nil
		}
		if i == len(body) {
			return 0, fmt.Errorf("no character %d in %q", p.Character, line)
		}
		_, size := utf8.DecodeRuneInString(body[i:])
		i += size
	}
}

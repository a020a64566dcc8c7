package oneline_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// names are the files in random trees; some look like globs and templates.
var names = []string{"a.go", "b.go", "[x].go", "{{find.files}}", "src/a.go", "src/deep/b.js", "src/c,d.js", "lib/*.md", "sub/a.go", "sub/x/e.js"}

func tree(files map[string]string) afero.Fs {
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		_ = afero.WriteFile(fsys, name, []byte(text), 0o644) // memory accepts all names
	}
	return fsys
}

// contents returns the texts of all files of a tree except the files of the program itself.
func contents(t *rapid.T, fsys afero.Fs) map[string]string {
	all := make(map[string]string)
	err := afero.Walk(fsys, ".", func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasPrefix(name, ".millrace") {
			return err
		}
		data, err := afero.ReadFile(fsys, name)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// in returns a tree in the form for arguments.
func in(fsys afero.Fs, dir string) oneline.Where {
	return oneline.Where{Dir: dir, Look: func(name string) oneline.Kind {
		info, err := fsys.Stat(name)
		switch {
		case err != nil:
			return oneline.Nothing
		case info.IsDir():
			return oneline.Dir
		}
		return oneline.File
	}}
}

// TestEmitted draws trees and arguments: a pipeline has the same effect directly and from its JSON.
func TestEmitted(t *testing.T) {
	t.Parallel()
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab${}. ]|\n|find\.files|\{\{find\.files\}\}){0,12}`)
		files := make(map[string]string)
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID[string]).Draw(t, "files") {
			files[name] = text.Draw(t, name)
		}
		one, two := tree(files), tree(files)
		dir := rapid.SampledFrom([]string{".", ".", "sub"}).Draw(t, "dir")
		p, err := draw(t, in(one, dir), text)
		if err != nil {
			return // the tables test refusals
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := millrace.Decode(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if !again.Equal(p) {
			t.Fatalf("another pipeline from JSON: %s", data)
		}
		force := p.Options()
		force.Force = true
		_, errOne := millrace.Run(t.Context(), one, p.WithOptions(force))
		_, errTwo := millrace.Run(t.Context(), two, again.WithOptions(force))
		if (errOne == nil) != (errTwo == nil) {
			t.Fatalf("%v, but %v", errOne, errTwo)
		}
		got := contents(t, one)
		if diff := cmp.Diff(got, contents(t, two)); diff != "" {
			t.Fatalf("%s\n%s", data, diff)
		}
		if errOne == nil && !maps.Equal(files, got) {
			changed++
		}
	})
	if changed == 0 {
		t.Error("no pipeline changed anything")
	}
}

// draw makes a pipeline from random arguments.
func draw(t *rapid.T, w oneline.Where, text *rapid.Generator[string]) (millrace.Pipeline, error) {
	globs := []string{"*", "**", "*.go", "src/**", "src/*", "**/*.js", "{a,b}.go", `\[x\].go`, "../**", "x/*"}
	sources := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(names, globs)), 1, 3).Draw(t, "sources")
	switch rapid.SampledFrom([]string{"replace", "sed", "mv", "cp", "rm", "do"}).Draw(t, "command") {
	case "replace":
		r := oneline.Replace{Old: text.Draw(t, "old"), New: text.Draw(t, "new"), IgnoreCase: rapid.Bool().Draw(t, "i"), Words: rapid.Bool().Draw(t, "w")}
		r.Paths = rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "paths")
		r.Globs = rapid.SliceOfN(rapid.SampledFrom([]string{"*.go", "!src/", "src/**", "!./a.go"}), 0, 2).Draw(t, "globs")
		return w.Replace(r)
	case "sed":
		scripts := rapid.SliceOfN(rapid.SampledFrom([]string{"s/a/{{find.files}}/g", "1d", "y/ab/ba/"}), 1, 2).Draw(t, "scripts")
		return w.Sed(oneline.Sed{Scripts: scripts, Files: sources})
	case "rm":
		return w.Remove(oneline.Remove{Sources: sources, Recursive: rapid.Bool().Draw(t, "r")})
	case "do":
		args := []string{"search", "pattern=" + text.Draw(t, "old"), "mode=literal", "then", "edit", "old_text=a", "new_text={{search.count}}"}
		return w.Do(oneline.Do{Args: args})
	}
	dest := rapid.SampledFrom([]string{"new/", "new", "{{dir}}/{{stem}}.x", "old/{{name}}", "lib", ".", "{{stem}}{{ext}}"}).Draw(t, "dest")
	return w.Transfer(oneline.Transfer{Sources: sources, Dest: dest, Copy: rapid.Bool().Draw(t, "copy"), Overwrite: rapid.Bool().Draw(t, "overwrite")})
}

// TestReplace_everywhere: a replacement in the whole tree equals the replacement in each text.
func TestReplace_everywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab{}$.]{0,8}`)
		files := make(map[string]string)
		for _, name := range names {
			files[name] = text.Draw(t, name)
		}
		old, text2 := rapid.StringMatching(`[ab{}$.]{1,3}`).Draw(t, "old"), text.Draw(t, "new")
		fsys := tree(files)
		p, err := in(fsys, ".").Replace(oneline.Replace{Old: old, New: text2})
		if err == nil {
			_, err = millrace.Run(t.Context(), fsys, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name := range files {
			files[name] = strings.ReplaceAll(files[name], old, text2)
		}
		if diff := cmp.Diff(files, contents(t, fsys)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDoProperty: the parameters of a step have the bytes of the command line, or the command line is refused.
func TestDoProperty(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "é", "\n", "\xff", "\x00", "\xed\xa0\x80", "\ufdd0", "\u2028", "<", "{", "\\", `"`, "$1", "@", "="})
		text := func(label string) string { return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, label), "") }
		old, made := "x"+text("old"), text("content")
		where := oneline.Where{Dir: ".", Look: func(string) oneline.Kind { return oneline.Nothing }, Read: func(string) ([]byte, error) { return []byte(made), nil }}
		p, err := where.Do(oneline.Do{Args: []string{"create", "path=f", "content=@file", "then", "edit", "files=f", "old_text=" + old, "new_text="}})
		if err != nil {
			if utf8.ValidString(old) {
				t.Fatal(err)
			}
			return
		}
		taken++
		create, _ := p.Step("create")
		edit, _ := p.Step("edit")
		if got := create.Action.(actions.Create).Content; got != made {
			t.Fatalf("content %q became %q", made, got)
		}
		if got := edit.Action.(actions.Edit).OldText; got != old {
			t.Fatalf("old_text %q became %q", old, got)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := millrace.Decode(data)
		if err != nil || !again.Equal(p) {
			t.Fatalf("%s: %v", data, err)
		}
	})
	if taken == 0 {
		t.Error("no command line was accepted")
	}
}

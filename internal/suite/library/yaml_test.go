package library_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
)

// asYAML replaces package yamlform, which is a module of its own: the text is JSON after a first line.
func asYAML(d millrace.Decoder, text []byte) (millrace.Pipeline, error) {
	_, json, _ := bytes.Cut(text, []byte("\n"))
	return d.Decode(json)
}

// YAML files are named like JSON files, on every file system, and two files with the same name are refused.
func TestYAML(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, project millrace.LibraryDir) {
		put(t, project, "long.yaml", "---\n"+text(""), "short.yml", "---\n"+text("own"), "plain.json", text(""), "note.txt", "x",
			"two.yaml", "---\n"+text("a"), "two.json", text("b"), ".hidden.yaml", "---\n"+text("c"), "a.b.yaml", "---\n"+text("d"), "bad.yml", "x\n{")
		l := millrace.Library{YAML: asYAML, Dirs: []millrace.LibraryDir{project, userDir(t, "two.json", text("user's"))}}
		for name, want := range map[string]string{"long": "long.yaml long", "short": "short.yml own", "plain": "plain.json plain"} {
			e, err := l.Find(t.Context(), name)
			if got := e.File + " " + e.Pipeline.Name(); err != nil || got != want || e.Name != name || e.Dir != "project" {
				t.Errorf("%s: got %q in %q, %v, want %q", name, got, e.Dir, err, want)
			}
			if p, err := l.Load(t.Context(), name); err != nil || !p.Equal(e.Pipeline) {
				t.Errorf("Load of %s: %v", name, err)
			}
		}
		for name, want := range map[string]string{
			"two": "pipeline 'two' in project: there are two.json and two.yaml: remove all but one of them", "bad": "Invalid pipeline JSON",
		} {
			e, err := l.Find(t.Context(), name)
			if err == nil || !strings.Contains(err.Error(), want) || e.File == "" || e.Dir != "project" {
				t.Errorf("%s: got %+v, %v, want %q", name, e, err, want)
			}
		}
		entries, err := l.List(t.Context())
		if err != nil {
			t.Error(err)
		}
		var files []string
		for _, e := range entries {
			files = append(files, e.Dir+"/"+e.File)
		}
		want := []string{"project/a.b.yaml", "project/bad.yml", "project/long.yaml", "project/plain.json", "project/short.yml", "project/two.json", "user/two.json"}
		if d := cmp.Diff(want, files); d != "" {
			t.Errorf("files (-want +got):\n%s", d)
		}
		l.YAML = nil
		if e, err := l.Find(t.Context(), "two"); err != nil || e.File != "two.json" || e.Pipeline.Name() != "b" {
			t.Errorf("without YAML: got %+v, %v", e, err)
		}
		if _, err := l.Load(t.Context(), "long"); err == nil {
			t.Error("without YAML a file of YAML is read")
		}
		if entries, err := l.List(t.Context()); err != nil || slices.ContainsFunc(entries, func(e millrace.LibraryEntry) bool { return strings.HasSuffix(e.File, "l") }) {
			t.Errorf("without YAML: %v, %v", told(entries), err)
		}
	})
}

// A pipeline without a name gets the name of the decoder.
func TestDecoderName(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "file", "own": "own"} {
		for _, lenient := range []bool{false, true} {
			p, err := millrace.Decoder{Name: "file", Lenient: lenient}.Decode([]byte(text(given)))
			if err != nil || p.Name() != want {
				t.Errorf("%q, lenient %v: got %q, %v", given, lenient, p.Name(), err)
			}
		}
	}
}

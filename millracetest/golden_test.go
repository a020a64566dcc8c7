package millracetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	Golden(t, "testdata/*.txtar", Options{
		Variables: map[string]any{"word": "absent", "of no pipeline": 1},
		Update:    *update,
	})
}

const edits = `-- pipeline.json --
{"name": "p", "steps": [{"id": "e", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "y"}}]}
-- in/a.txt --
x
`

// Each section of an archive detects a wrong result.
func TestGolden_fails(t *testing.T) {
	const right = edits + "-- want/a.txt --\ny\n"
	for name, c := range map[string]struct{ text, word string }{
		"tree":               {edits + "-- want/a.txt --\nz\n", "the tree differs"},
		"unchanged tree":     {edits, "the tree differs"},
		"empty tree":         {edits + "-- want/ --\n", "the tree differs"},
		"error":              {right + "-- error --\nstep_failed: why\n", `"error" differs`},
		"unexpected error":   {strings.ReplaceAll(edits, `["a.txt"]`, `["b.txt"]`), `"error" differs`},
		"unexpected warning": {strings.ReplaceAll(edits, `"x"`, `"z"`), `"warnings" differs`},
		"result":             {right + "-- result --\nOK\n", `"result" differs`},
		"report":             {right + "-- report --\n", `"report" differs`},
		"diff":               {right + "-- diff --\n", `"diff" differs`},
		"events":             {right + "-- events --\n", `"events" differs`},
		"warnings":           {right + "-- warnings --\nnone\n", `"warnings" differs`},
		"no pipeline":        {"-- in/a --\n", "has no section pipeline.json"},
		"two pipelines":      {edits + "-- pipeline.yaml --\n", "has two pipelines"},
		"YAML":               {"-- pipeline.yaml --\n", "Options.YAML"},
		"bad pipeline":       {"-- pipeline.json --\n{}\n", `"error" differs`},
		"bad tree":           {edits + "-- in/../a --\n", "in/: "},
		"bad tree wanted":    {edits + "-- want/../a --\n", "want/: "},
		"an unknown section": {right + "-- wants/a.txt --\n", `unknown section "wants/a.txt"`},
	} {
		t.Run(name, func(t *testing.T) {
			file := archive(t, c.text)
			fails(t, func(t testing.TB) { golden(t, file, Options{}) }, c.word, file)
		})
	}
	passes(t, func(tb testing.TB) { golden(tb, archive(t, right), Options{}) })
	fails(t, func(t testing.TB) { golden(t, "testdata/*.absent", Options{}) }, "no archive")
	fails(t, func(t testing.TB) { golden(t, "[", Options{}) }, "syntax error")
}

// archive writes an archive.
func archive(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.txtar")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// An update corrects a wrong archive and keeps the sections before the wanted results byte for byte.
func TestGolden_update(t *testing.T) {
	file := archive(t, "about\n"+edits+"-- error --\nold\n-- want/b.txt --\nold\n-- events --\n-- want/c --")
	passes(t, func(t testing.TB) { golden(t, file, Options{Update: true}) })
	passes(t, func(t testing.TB) { golden(t, file, Options{}) })
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	if !strings.HasPrefix(got, "about\n"+edits+"-- events --\n{") || !strings.HasSuffix(got, "-- want/a.txt --\ny\n") ||
		strings.Contains(got, "old\n") {
		t.Errorf("the archive is now:\n%s", got)
	}
}

// A golden test can use a pipeline in YAML and a file system of the test.
func TestGolden_options(t *testing.T) {
	file := archive(t, strings.Replace(edits, ".json", ".yaml", 1)+"-- want/a.txt --\ny\n")
	opened, read := 0, 0
	o := Options{
		YAML: func(d millrace.Decoder, text []byte) (millrace.Pipeline, error) { read++; return d.Decode(text) },
		FS:   func(testing.TB) afero.Fs { opened++; return afero.NewMemMapFs() },
	}
	seen := 0
	o.Executor.Observe = func(millrace.Event) { seen++ }
	passes(t, func(t testing.TB) { golden(t, file, o) })
	if opened != 2 || read != 1 || seen == 0 {
		t.Errorf("%d file systems, %d pipelines, %d events", opened, read, seen)
	}
	o.FS = func(testing.TB) afero.Fs {
		opened++
		if opened%2 == 0 {
			return afero.NewReadOnlyFs(afero.NewMemMapFs())
		}
		return afero.NewMemMapFs()
	}
	fails(t, func(t testing.TB) { golden(t, file, o) }, "not permitted")
}

// An update keeps the modes that the archive names.
func TestGolden_updateModes(t *testing.T) {
	const before = "-- in/a.txt mode=600 --\nx\n-- in/b.txt --\nx\n-- in/c.txt --\nx\n-- in/d/ mode=700 --\n"
	const pipeline = "-- pipeline.json --\n" +
		`{"name": "p", "steps": [{"id": "e", "action": "edit", "params": {"files": ["a.txt"], "old_text": "x", "new_text": "y"}}]}` + "\n"
	file := archive(t, pipeline+before+"-- want/b.txt mode=644 --\nx\n")
	passes(t, func(t testing.TB) { golden(t, file, Options{Update: true}) })
	passes(t, func(t testing.TB) { golden(t, file, Options{}) })
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const want = "-- want/a.txt mode=600 --\ny\n-- want/b.txt mode=644 --\nx\n-- want/c.txt --\nx\n-- want/d/ mode=700 --\n"
	if got := string(data); !strings.HasSuffix(got, want) {
		t.Errorf("the archive is now:\n%s", got)
	}
}

package millracetest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Options are the options of [Golden]. The zero value runs pipelines with the built-in actions and the zero Executor.
type Options struct {
	// Executor runs the pipelines. Its fields are the policy of the host, and its doubles: see [Agent] and [Command].
	// Golden calls Observe too. The zero Executor works.
	Executor millrace.Executor
	// Decoder decodes the pipelines. Add your own actions to its Actions. The zero Decoder has the built-in actions.
	Decoder millrace.Decoder
	// YAML decodes a section "pipeline.yaml": pass Decode of the module yamlform. Nil refuses such a section.
	YAML func(d millrace.Decoder, text []byte) (millrace.Pipeline, error)
	// Variables are values by name, for each pipeline that has a variable with that name. Nil sets no values.
	Variables map[string]any
	// FS returns a new empty file system at each call. Nil means the file system of [Tree].
	FS func(t testing.TB) afero.Fs
	// Update writes the results into the archives. False means that the flag -update of the test decides, if the test has
	// such a flag.
	Update bool
}

// Golden runs a test for each archive that matches a pattern of [filepath.Glob], such as "testdata/*.txtar". The name
// of the test is the name of the archive without its extension. It fails the test if no archive matches. An archive
// has these sections:
//
//	pipeline.json   the pipeline, or pipeline.yaml
//	in/NAME         the tree before: a section for each file
//	want/NAME       the tree after; without such a section the tree must stay as it is
//	want/           alone: the tree must be empty
//	error           the code of the error, a colon, and its message; without it there must be no error
//	warnings        the warnings; without it there must be none
//	result          the compact line of the result
//	report          the report of the result
//	diff            the unified diff of the dry run
//	events          the events of the run, a line of JSON for each
//
// The names of files have the form that the package comment describes. The four sections result, report, diff and
// events are compared if they exist; the next update fills an empty section. An update adds result and diff to an
// archive without wanted results, and keeps the modes that the archive names. After a run without an error, a dry run
// on a second tree must write nothing. Texts that differ from run to run are replaced: times and
// durations by 0, ids of backups by BACKUP. Events of progress and output are left out, because their number varies.
//
// Your test defines the flag -update, because two packages cannot define the same flag:
//
//	var update = flag.Bool("update", false, "write the golden files")
//
// If a pipeline cannot be decoded, only the section error is used.
func Golden(t *testing.T, pattern string, o Options) {
	t.Helper()
	golden(t, pattern, o)
}

func golden(t testing.TB, pattern string, o Options) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("millracetest: %q: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("millracetest: no archive has a name like %q", pattern)
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		o.Update = true
	}
	for _, file := range files {
		each(t, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t testing.TB) {
			t.Helper()
			goldenFile(t, file, o)
		})
	}
}

// each calls check as a subtest if t can have subtests.
func each(t testing.TB, name string, check func(t testing.TB)) {
	t.Helper()
	if parent, ok := t.(*testing.T); ok {
		parent.Run(name, func(t *testing.T) { check(t) })
		return
	}
	check(t)
}

// goldenFile runs the test of one archive.
func goldenFile(t testing.TB, file string, o Options) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("millracetest: %v", err)
	}
	a := txtarfs.Parse(data)
	g := &goldenTest{file: file, archive: a, options: o}
	if g.before, err = parseTree(a.Under("in")); err != nil {
		t.Fatalf("%s: in/: %v", file, err)
	}
	if g.after, err = parseTree(slices.DeleteFunc(a.Under("want"), noName)); err != nil {
		t.Fatalf("%s: want/: %v", file, err)
	}
	for _, f := range a.Files {
		if !g.isWanted(f.Name) && f.Name != pipelineJSON && f.Name != pipelineYAML &&
			!strings.HasPrefix(f.Name, "in/") {
			t.Fatalf("%s: unknown section %q", file, f.Name)
		}
	}
	g.run(t)
	if o.Update {
		g.update(t, data)
		return
	}
	g.compare(t)
}

// noName reports whether a section is the directory itself.
func noName(f txtarfs.File) bool { return f.Name == "" }

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

// Options are for [Golden]. The zero value runs pipelines with the built-in actions and the zero Executor.
type Options struct {
	// Executor runs the pipelines. Its fields are the policy of the host, and its doubles: see [Agent] and [Command].
	// Golden calls Observe too. The zero Executor works.
	Executor millrace.Executor
	// Decoder reads the pipelines. Its Actions have the actions of your own. The zero Decoder has the built-in actions.
	Decoder millrace.Decoder
	// YAML reads a section "pipeline.yaml": Decode of the module yamlform. Nil refuses such a section.
	YAML func(d millrace.Decoder, text []byte) (millrace.Pipeline, error)
	// Variables are values for the variables of each pipeline that has a variable with the name. Nil gives no values.
	Variables map[string]any
	// FS returns an empty file system, at each call another. Nil means the file system of [Tree].
	FS func(t testing.TB) afero.Fs
	// Update writes what is wanted into the archives. False leaves that to the flag -update of the test, if the test
	// has such a flag.
	Update bool
}

// Golden runs a test for each archive that a pattern of [filepath.Glob] names, such as "testdata/*.txtar". The test
// has the name of the archive without its end. No archive fails the test. An archive has these sections:
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
// Names of files have the words of the package comment. The four sections result, report, diff and events are
// compared where they are there; an empty section is filled by the next update. An archive that wants nothing yet
// gets result and diff. After a run without an error comes a dry run on a second tree, which must write nothing. Texts
// that differ from run to run are replaced: times and durations by 0, ids of backups by BACKUP. Events of progress and
// output are left out, because their number is not fixed.
//
// The flag -update belongs to the test, because two packages cannot define one flag:
//
//	var update = flag.Bool("update", false, "write the golden files")
//
// A pipeline that cannot be decoded has only the section error.
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

// each calls check as a test of its own where t can have one.
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

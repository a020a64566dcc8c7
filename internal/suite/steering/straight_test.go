package steering_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

var update = flag.Bool("update", false, "rewrite what pipelines that do not jump tell")

// Reports of pipelines without steering are byte for byte the same as before steps could jump: their JSON, digests,
// plans, results and reports, for all scenarios of that time.
func TestStraightPipelinesTellWhatTheyTold(t *testing.T) {
	t.Parallel()
	const golden = "testdata/straight.txtar"
	archives, err := filepath.Glob("../../../testdata/run/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no scenarios", err)
	}
	var got []txtarfs.File
	for _, path := range archives {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		got = append(got, txtarfs.File{Name: name, Data: []byte(tell(t, txtarfs.Parse(data)))})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(txtarfs.Format(got)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := txtarfs.Parse(data)
	n := 0
	for _, f := range got {
		old, ok := want.Get(f.Name)
		if !ok {
			continue // a later scenario
		}
		n++
		if d := cmp.Diff(string(old), string(f.Data)); d != "" {
			t.Errorf("%s (-before +now):\n%s", f.Name, d)
		}
	}
	if n < 40 {
		t.Errorf("only %d scenarios were compared", n)
	}
}

var (
	times   = regexp.MustCompile(`"(duration|total_duration|time|last_modified|mtime)":("[^"]*"|[0-9.]+)`)
	waits   = regexp.MustCompile(`Duration: \S+`)
	backups = regexp.MustCompile(`[0-9]{8}_[0-9]{6}_[0-9a-f]{16}`)
)

// tell returns all that a scenario reports, except values that differ from run to run.
func tell(t *testing.T, a txtarfs.Archive) string {
	t.Helper()
	source, _ := a.Get("pipeline.json")
	p, err := millrace.Decode(source)
	if err != nil {
		return fmt.Sprintln("refused:", err)
	}
	var b bytes.Buffer
	show := func(what string, v any, err error) {
		data, jerr := json.Marshal(v)
		if jerr != nil {
			data = []byte(jerr.Error()) // a plan that cannot be committed
		}
		fmt.Fprintf(&b, "%s: %s\n", what, data)
		if err != nil {
			fmt.Fprintf(&b, "%s fails: %v (%s)\n", what, err, millrace.ErrorCode(err))
		}
	}
	show("pipeline", p, nil)
	fmt.Fprintf(&b, "digest: %s\n", p.Digest())
	fsys := suite.Memory(t, a.Under("in"))
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err = afero.Walk(fsys, ".", func(path string, _ fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return fsys.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	show("plan", plan, err)
	if err != nil {
		show("dry result", plan.Result(), nil)
	}
	res, err := millrace.Executor{}.Run(t.Context(), fsys, p)
	show("result", res, err)
	if err := res.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	res.Verbose = true
	if err := res.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	text := times.ReplaceAllString(b.String(), `"$1":0`)
	return backups.ReplaceAllString(waits.ReplaceAllString(text, "Duration: 0s"), "BACKUP")
}

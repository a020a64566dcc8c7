package millracetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// The names of the section of the pipeline.
const (
	pipelineJSON = "pipeline.json"
	pipelineYAML = "pipeline.yaml"
)

// goldenTest is the test of one archive.
type goldenTest struct {
	file          string
	archive       txtarfs.Archive
	options       Options
	before, after []entry
	got           []entry           // the tree after the run
	sections      map[string]string // the results: error, warnings, result, report, diff, events
}

// kinds returns the sections of wanted results except the tree, in the order in which an update writes them.
func kinds() []string { return []string{"error", "warnings", "result", "report", "diff", "events"} }

// always reports whether a missing section means that there must be none.
func always(kind string) bool { return kind == "error" || kind == "warnings" }

// decode decodes the pipeline of the archive.
func (g *goldenTest) decode(t testing.TB) (millrace.Pipeline, error) {
	t.Helper()
	o := g.options
	text, isJSON := g.archive.Get(pipelineJSON)
	yaml, isYAML := g.archive.Get(pipelineYAML)
	var p millrace.Pipeline
	var err error
	switch {
	case isJSON && isYAML:
		t.Fatalf("%s has two pipelines, pipeline.json and pipeline.yaml", g.file)
	case isJSON:
		p, err = o.Decoder.Decode(text)
	case !isYAML:
		t.Fatalf("%s has no section pipeline.json or pipeline.yaml", g.file)
	case o.YAML == nil:
		t.Fatalf("%s has a pipeline in YAML; set Options.YAML to yamlform.Decode", g.file)
	default:
		p, err = o.YAML(o.Decoder, yaml)
	}
	if err != nil {
		return p, err
	}
	values := make(map[string]any)
	for _, v := range p.Variables() {
		if value, ok := o.Variables[v.Name]; ok {
			values[v.Name] = value
		}
	}
	return p.WithVariables(values)
}

// run runs the pipeline and keeps the results.
func (g *goldenTest) run(t testing.TB) {
	t.Helper()
	g.sections = make(map[string]string)
	p, err := g.decode(t)
	if err != nil {
		g.got = g.before
		g.sections["error"] = errorText(err)
		return
	}
	x := g.options.Executor
	if x.Recorder == nil {
		x.Recorder = millrace.NewMemoryRecorder() // so that the dry run does not ask the doubles again
	}
	fsys := g.open(t)
	var events bytes.Buffer
	line, observe := millrace.JSONEvents(&events), x.Observe
	x.Observe = func(e millrace.Event) {
		line(e)
		if observe != nil {
			observe(e)
		}
	}
	res, err := x.Run(t.Context(), fsys, p)
	g.got = prune(readTree(t, fsys, stateDir(x)), g.after)
	g.sections["events"] = steadyEvents(t, events.String())
	if err != nil {
		g.sections["error"] = errorText(err)
	}
	if res != nil {
		g.sections["warnings"] = lines(res.AllWarnings())
		g.sections["result"] = res.String() + "\n"
		var report bytes.Buffer
		if err := res.WriteReport(&report); err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		g.sections["report"] = steady(report.String())
	}
	if err == nil {
		x.Observe = observe
		g.dryRun(t, x, p)
	}
}

// dryRun makes a plan on a second copy of the tree, and keeps its diff.
func (g *goldenTest) dryRun(t testing.TB, x millrace.Executor, p millrace.Pipeline) {
	t.Helper()
	fsys := g.open(t)
	plan, err := x.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Errorf("%s: the run has no error, but the dry run has: %v", g.file, err)
		return
	}
	defer plan.Close()
	g.sections["diff"] = plan.Diff()
	if diff := diffTree(t, fsys, g.before, x.State.Dir); diff != "" {
		t.Errorf("%s: the dry run has written (-before +after):\n%s", g.file, diff)
	}
}

// open returns a file system with the tree before the run.
func (g *goldenTest) open(t testing.TB) afero.Fs {
	t.Helper()
	if g.options.FS == nil {
		return plantNew(t, g.before)
	}
	fsys := g.options.FS(t)
	plant(t, fsys, g.before)
	return fsys
}

func stateDir(x millrace.Executor) string {
	if x.State.Dir != "" {
		return x.State.Dir
	}
	return millrace.DefaultStateDir
}

// errorText returns the code and the message of an error.
func errorText(err error) string {
	return steady(fmt.Sprintf("%s: %v\n", millrace.ErrorCode(err), err))
}

// lines joins texts, each on a line of its own.
func lines(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return steady(strings.Join(texts, "\n") + "\n")
}

package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

var (
	genWord = rapid.SampledFrom([]string{"foo", "bar", "baz", "foo.bar", "x"})
	genCode = rapid.SampledFrom([]string{"foo(bar, x)", "foo(foo(x), \")\")", "foo {\n\tbar = x;\n}", "foo( /* x */ )", "foo("})
	genHole = rapid.SampledFrom([]string{"foo(:[a...])", "foo(:[a], :[b])", ":[[a]] = :[b]", "foo { :[a...] }"})
	genPath = rapid.SampledFrom([]string{"a.txt", "b.txt", "d/a.txt", "d/b.go", "d/e/c.txt", "f/a.txt", ".hidden"})
	genDir  = rapid.SampledFrom([]string{"d", "d/e", "f", "new", "new/deep"})
	genMost = rapid.IntRange(0, 5)
	genEOL  = rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", ""})
)

// drawTree draws a small tree of text files.
func drawTree(t *rapid.T) []txtarfs.File {
	var files []txtarfs.File
	for _, path := range rapid.SliceOfNDistinct(genPath, 1, 7, rapid.ID).Draw(t, "paths") {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			for range rapid.IntRange(0, 4).Draw(t, "words") {
				b.WriteString(genWord.Draw(t, "word"))
				b.WriteByte(' ')
			}
			if rapid.IntRange(0, 3).Draw(t, "code") == 0 {
				b.WriteString(genCode.Draw(t, "code"))
			}
			b.WriteString(genEOL.Draw(t, "eol"))
		}
		files = append(files, txtarfs.File{Name: path, Data: []byte(b.String())})
	}
	return files
}

// drawPipeline draws a valid pipeline whose steps refer to each other in all possible ways.
func drawPipeline(t *rapid.T) millrace.Pipeline {
	b := millrace.New("random").Options(millrace.Options{
		Force: rapid.Bool().Draw(t, "force"), ContinueOnError: rapid.Bool().Draw(t, "continue"),
		NoBackup: rapid.Bool().Draw(t, "no backup"),
	})
	if rapid.IntRange(0, 3).Draw(t, "budget") == 0 {
		b = b.Budget(budget.Limit{Files: genMost.Draw(t, "most files"), Edits: genMost.Draw(t, "most edits"), Bytes: 40 * int64(genMost.Draw(t, "most bytes"))}).
			Deadline(time.Hour).Classification(rapid.SampledFrom([]string{"", "internal", "\u2028<&>"}).Draw(t, "classification"))
	}
	var earlier []string
	for i := range rapid.IntRange(1, 7).Draw(t, "steps") {
		id := fmt.Sprintf("s%d", i)
		b = drawStep(t, id, earlier, b).Builder
		earlier = append(earlier, id)
	}
	p, err := b.Build()
	if err != nil {
		t.Fatalf("the generator made an invalid pipeline: %v", err)
	}
	return p
}

func drawStep(t *rapid.T, id string, earlier []string, b millrace.Builder) millrace.StepBuilder {
	ref := func(label string) string { return rapid.SampledFrom(earlier).Draw(t, label) }
	text := func(label string) string {
		if len(earlier) > 0 && rapid.IntRange(0, 5).Draw(t, "template") == 0 {
			field := rapid.SampledFrom([]string{"count", "files_count", "files", "edits", "risk"}).Draw(t, "field")
			return "{{" + ref("template step") + "." + field + "}}"
		}
		return genWord.Draw(t, label)
	}
	var files []string
	from := len(earlier) > 0 && rapid.Bool().Draw(t, "from")
	if !from {
		files = rapid.SliceOfN(genPath, 1, 3).Draw(t, "files")
	}
	var step millrace.StepBuilder
	kinds := []string{"search", "edit", "multi", "swap", "count", "regex", "copy", "rename", "delete", "read", "diff"}
	if len(earlier) > 1 {
		kinds = append(kinds, "merge", "aggregate")
	}
	kinds = append(kinds, "move", "remove", "ways", "structural", "structural", "structural")
	goOn := rapid.SampledFrom([]string{"", "", "continue"}).Draw(t, "on error")
	fold := rapid.Bool().Draw(t, "ignore case")
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	edits := []actions.TextEdit{{OldText: text("old"), NewText: text("new")}, {OldText: genWord.Draw(t, "old"), NewText: text("new")}}
	switch kind {
	case "search":
		step = b.Step(id, actions.Search{Path: rapid.SampledFrom([]string{".", "d"}).Draw(t, "path"), Pattern: text("pattern"), IncludeContent: rapid.Bool().Draw(t, "content")})
	case "edit":
		step = b.Step(id, actions.Edit{Files: files, OldText: text("old"), NewText: text("new"), OnError: goOn, IgnoreCase: fold})
	case "multi":
		step = b.Step(id, actions.MultiEdit{Files: files, Edits: edits, OnError: goOn, IgnoreCase: fold})
	case "swap":
		step = b.Step(id, actions.MultiEdit{Files: files, Edits: edits, Mode: "simultaneous", OnError: goOn})
	case "count":
		step = b.Step(id, actions.CountOccurrences{Files: files, Pattern: text("pattern"), IgnoreCase: fold})
	case "regex":
		step = b.Step(id, actions.RegexTransform{Files: files, Patterns: []actions.PatternEdit{{Pattern: `(fo+)\s*(\w*)`, Replacement: "$2 $1"}}, OnError: goOn})
	case "structural":
		step = b.Step(id, drawStructural(t, files, from, goOn))
	case "copy":
		step = b.Step(id, actions.Copy{Files: files, Destination: genDir.Draw(t, "dir"), PreservePaths: rapid.Bool().Draw(t, "preserve"), Overwrite: rapid.Bool().Draw(t, "overwrite")})
	case "rename":
		step = b.Step(id, actions.Rename{Files: files, To: rapid.SampledFrom([]string{"{{dir}}/{{stem}}_2{{ext}}", "new/{{name}}"}).Draw(t, "to")})
	case "delete":
		step = b.Step(id, actions.Delete{Files: files, Permanent: rapid.Bool().Draw(t, "permanent")})
	case "move":
		step = b.Step(id, actions.Rename{Files: dirs(t), Destination: rapid.SampledFrom([]string{"new", "f", ".", "new/deep"}).Draw(t, "dir")})
	case "remove":
		step = b.Step(id, actions.Delete{Files: dirs(t), Recursive: rapid.IntRange(0, 3).Draw(t, "recursive") > 0, Permanent: rapid.Bool().Draw(t, "permanent")})
	case "ways":
		step = b.Step(id, actions.Search{
			Paths: rapid.SliceOfN(rapid.OneOf(genPath, genDir), 1, 3).Draw(t, "paths"), Pattern: text("pattern"), IgnoreCase: fold,
			WithoutMatch: rapid.Bool().Draw(t, "without"), Include: rapid.SampledFrom([][]string{nil, {"*.{txt,go}"}, {"d/**"}}).Draw(t, "include"),
		})
	case "read":
		step = b.Step(id, actions.ReadRanges{Files: files})
	case "diff":
		step = b.Step(id, actions.Diff{FileA: genPath.Draw(t, "a"), FileB: genPath.Draw(t, "b")})
	case "merge":
		step = b.Step(id, actions.Merge{Mode: rapid.SampledFrom([]string{"union", "intersection", "difference"}).Draw(t, "mode")})
	case "aggregate":
		step = b.Step(id, actions.Aggregate{})
	}
	switch kind {
	case "search", "diff", "ways", "move", "remove":
	case "merge", "aggregate":
		step = step.FromAll(rapid.SliceOfNDistinct(rapid.SampledFrom(earlier), 2, 2, rapid.ID).Draw(t, "from all")...)
	default:
		if from {
			step = step.From(ref("from"))
		}
	}
	if len(earlier) > 0 && rapid.IntRange(0, 2).Draw(t, "conditional") == 0 {
		step = step.When(rapid.SampledFrom([]condition.Condition{
			condition.HasMatches(ref("if")), condition.NoMatches(ref("if")), condition.CountGT(ref("if"), 1), condition.CountLT(ref("if"), 2),
			condition.CountEQ(ref("if"), 0), condition.StepSucceeded(ref("if")), condition.StepFailed(ref("if")),
			condition.FileExists(genPath.Draw(t, "exists")), condition.FileNotExists(genPath.Draw(t, "exists not")),
			condition.FileExists("{{" + ref("if") + ".files[0]}}"), condition.FileNotExists("d/{{" + ref("if") + ".count}}"),
		}).Draw(t, "condition"))
	}
	return step
}

// dirs draws names for moves and removals: mostly directories.
func dirs(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.OneOf(genDir, genDir, genPath), 1, 2).Draw(t, "directories")
}

// story returns all that a run reports and leaves, except values that differ from run to run.
func story(res *millrace.Result, err error, fsys afero.Fs) string {
	if res == nil {
		return fmt.Sprint(err)
	}
	c := *res
	c.BackupID, c.TotalDuration = "", 0
	c.Results = slices.Clone(c.Results)
	for i := range c.Results {
		c.Results[i].Duration = 0
		for k := range c.Results[i].Files {
			c.Results[i].Files[k].LastModified = c.Results[i].Files[k].LastModified.UTC().Truncate(1e15)
		}
	}
	data, jerr := json.MarshalIndent(c, "", " ")
	files, ferr := txtarfs.Read(fsys, ".millrace")
	return fmt.Sprintf("%v\n%s\n%s\n%v%v", err, data, txtarfs.Format(files), jerr, ferr)
}

// TestParallelIsSequential: in parallel and in sequence, a pipeline on the same tree reports the same story and leaves
// the same tree.
func TestParallelIsSequential(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tree, p := drawTree(r), drawPipeline(r)
		x := millrace.Executor{Workers: 4}
		stories := make([]string, 2)
		for i, parallel := range []bool{false, true} {
			o := p.Options()
			o.Parallel = parallel
			fsys := suite.Memory(t, tree)
			res, err := x.Run(t.Context(), fsys, p.WithOptions(o))
			stories[i] = story(res, err, fsys)
		}
		if d := cmp.Diff(stories[0], stories[1]); d != "" {
			r.Fatalf("parallel differs (-sequential +parallel):\n%s", d)
		}
	})
}

// TestDryRunIsRun: the dry run reports the same as the run, git makes the run's tree from its diff, and a restore of
// the backup gives the old tree.
func TestDryRunIsRun(t *testing.T) {
	byShape := 0
	rapid.Check(t, func(r *rapid.T) {
		tree, p := drawTree(r), drawPipeline(r)
		fsys := suite.Memory(t, tree)
		var x millrace.Executor
		plan, planErr := x.Plan(t.Context(), fsys, p)
		before, _ := txtarfs.Read(fsys)
		if d := cmp.Diff(txtarfs.Format(suite.Sorted(tree)), txtarfs.Format(before)); d != "" {
			r.Fatalf("the dry run has written (-want +got):\n%s", d)
		}
		dry, diff, changes := plan.Result(), plan.Diff(), plan.Outline()
		if planErr == nil && dry.Error != "" {
			planErr = errors.New(dry.Error) // Plan has no error if the plan can still be committed
		}
		res, err := x.Run(t.Context(), fsys, p)
		if dry.WouldBlock { // the budget blocks: the run is refused, and writes nothing
			after, _ := txtarfs.Read(fsys, ".millrace")
			if blocked, ok := errors.AsType[*millrace.BlockedError](err); !ok || blocked.Reason != dry.BlockReason || !slices.EqualFunc(before, after, sameFile) {
				r.Fatalf("the dry run reports %q, the run %v", dry.BlockReason, err)
			}
			return
		}

		byShape += editsByShape(p, res)
		dry.DryRun, dry.Commit, dry.Guarantee, dry.Warnings = res.DryRun, res.Commit, res.Guarantee, res.Warnings
		if d := cmp.Diff(story(dry, planErr, fsys), story(res, err, fsys)); d != "" {
			r.Fatalf("the run differs (-dry +run):\n%s", d)
		}
		after, _ := txtarfs.Read(fsys, ".millrace")
		if d := cmp.Diff(txtarfs.Format(after), txtarfs.Format(suite.GitApply(t, tree, diff))); d != "" && res.Commit.State == millrace.CommitApplied {
			r.Fatalf("git apply differs (-run +git):\n%s\n%s", d, diff)
		}
		if res.BackupID != "" && !p.Options().NoBackup {
			if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
				r.Fatalf("restore: %v", err)
			}
			restored, _ := txtarfs.Read(fsys, ".millrace")
			for _, c := range changes {
				if c.Permanent {
					before = slices.DeleteFunc(before, func(f txtarfs.File) bool { return f.Name == c.Path })
				}
			}
			if d := cmp.Diff(txtarfs.Format(before), txtarfs.Format(restored)); d != "" {
				r.Fatalf("restore (-before +after):\n%s", d)
			}
		}
	})
	if byShape == 0 && fstest.Runs(0, 1, 1) == 1 { // few samples may draw none
		t.Error("no structural pattern has changed a file")
	}
}

func sameFile(a, b txtarfs.File) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }

// TestBuilderJSONDecode: a pipeline built in Go, encoded as JSON and decoded is Equal, with the same digest. Encoded
// again, it has the same bytes.
func TestBuilderJSONDecode(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := drawPipeline(r)
		data, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		q, err := millrace.Decode(data)
		if err != nil {
			r.Fatalf("%v\n%s", err, data)
		}
		if !p.Equal(q) || p.Digest() != q.Digest() {
			r.Fatalf("decoded pipeline differs:\n%s", data)
		}
		again, err := json.Marshal(q)
		if err != nil || string(again) != string(data) {
			r.Fatalf("written again: %v\n%s\n%s", err, data, again)
		}
	})
}

// Lenient decoding accepts every text that strict decoding accepts, with the same result.
func TestLenientChangesNothingThatIsRight(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := drawPipeline(r)
		data, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		strict, err := millrace.Decode(data)
		if err != nil {
			r.Fatal(err)
		}
		lenient, err := millrace.Decoder{Lenient: true}.Decode(data)
		if err != nil || !strict.Equal(lenient) || len(strict.Warnings()) != len(lenient.Warnings()) {
			r.Fatalf("%v\n%s\n%v", err, data, lenient.Warnings())
		}
		// A mistake at one place does not change other places.
		broken := "Here it is:\n```json\n" + strings.Replace(string(data), `"steps":[`, `"steps": /* all */ [`, 1)
		broken = broken[:len(broken)-2] + ",\n]}\n```"
		mended, err := millrace.Decoder{Lenient: true}.Decode([]byte(broken))
		if err != nil || !strict.Equal(mended) || len(mended.Warnings()) < 4 {
			r.Fatalf("%v\n%s\n%v", err, broken, mended.Warnings())
		}
	})
}

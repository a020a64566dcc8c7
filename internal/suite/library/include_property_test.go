package library_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// note appends its text to a file. Its other effects depend only on the file's text: neither on the ids nor on the
// number of steps.
type note struct {
	Text  string   `json:"text,omitempty"`
	Files []string `json:"files,omitempty"`
	Count int      `json:"count,omitempty"`
}

func (note) Spec() actions.Spec {
	return actions.Spec{Name: "note", Summary: "writes its text down"}
}

func (n note) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	old, err := afero.ReadFile(c.FS, "log")
	if err != nil {
		return actions.Outcome{}, err
	}
	whole := fmt.Sprintf("%s%q %q %d\n", old, n.Text, c.Files, n.Count)
	if err := afero.WriteFile(c.FS, "log", []byte(whole), 0o644); err != nil {
		return actions.Outcome{}, err
	}
	h := fnv.New32()
	_, _ = h.Write([]byte(whole))
	dice := h.Sum32()
	files := []string{"log", "a,b", "c"}[:dice/7%4]
	out := actions.Outcome{Files: append([]string{}, files...), Counts: map[string]int{"log": int(dice / 31 % 3)}, Output: []string{"", "again", "done"}[dice/3%3]}
	if dice%4 == 0 {
		return out, errors.New([]string{"still wrong", "again"}[dice/5%2])
	}
	return out, nil
}

// stepIDs are possible ids of steps. An id that looks like a position has priority over the position.
var stepIDs = []string{"find", "fix", "a-b", "step3", "x_1", "steps", "vars", "step1"}

// drawText draws a text of the pieces that matter in templates.
func drawText(t *rapid.T, ids []string, prefix string) string {
	pieces := []string{
		"{{", "}}", "{", "}", `\`, `\\`, " ", "\n", "text", "é", "{{user.name}}", "{{find.count}}", "{{step1.count}}", "{{ steps[0].files }}",
		"{{steps[1].risk}}", "{{step2.files_count}}", "{{step4.edits}}", "{{" + prefix + "-find.count}}", "{{before.count}}", "{{after.files}}",
		"{{later.count}}", "{{vars.count}}", "{{vars.dir}}", `\{{vars.dir}}`, "{{ vars.list[0] }}", "{{find}}", "{{.find.count}}", `\{{before.count}}`,
	}
	for _, id := range ids {
		pieces = append(pieces, "{{"+id+".count}}", "{{ "+id+".files }}", `\{{`+id+".files_count}}", "{{"+id+".aggregated_content}}", "{{"+id+".ok}}", "{{"+id+".counts}}", "{{"+id+".visits}}")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
}

// drawSteps draws the steps of a pipeline, which need not be valid.
func drawSteps(t *rapid.T, prefix string) []millrace.Step {
	ids := rapid.Permutation(stepIDs).Draw(t, "ids")[:rapid.IntRange(1, 6).Draw(t, "steps")]
	maybe := func(what string, in int) bool { return rapid.IntRange(0, in).Draw(t, what) == 0 }
	var steps []millrace.Step
	for i, id := range ids {
		n := note{Text: drawText(t, ids[:i], prefix)}
		s := millrace.Step{ID: id, Raw: maybe("raw", 8)}
		if i > 0 && maybe("bind", 4) && !s.Raw {
			s.Bind = map[string]string{"/count": "{{" + rapid.SampledFrom(ids[:i]).Draw(t, "bound") + ".count}}"}
		}
		earlier := func(what string) string { return rapid.SampledFrom(ids[:i]).Draw(t, what) }
		later := func(what string) string { return rapid.SampledFrom(ids[i+1:]).Draw(t, what) }
		when := func(ref string) condition.Condition {
			return rapid.SampledFrom([]condition.Condition{
				condition.HasMatches(ref), condition.NoMatches(ref), condition.CountGT(ref, 0), condition.CountEQ(ref, 1),
				condition.StepSucceeded(ref), condition.StepFailed(ref), condition.FileExists(drawText(t, ids[:i], prefix) + "x"), condition.PrevError(),
			}).Draw(t, "condition")
		}
		if i > 0 && maybe("has condition", 2) {
			s.When = when(earlier("of"))
		}
		switch rapid.IntRange(0, 7).Draw(t, "input") {
		case 0, 1:
			if i > 0 {
				s.InputFrom = earlier("from")
			}
		case 2:
			if i > 1 {
				s.InputFromAll = []string{ids[0], ids[i-1]}
			}
		case 3:
			s.Input = "previous"
		case 4:
			n.Files = []string{"log", drawText(t, ids[:i], prefix) + "x"}
		}
		if i+1 < len(ids) && maybe("on_fail", 1) {
			s.OnFail = later("to")
		}
		if i+1 < len(ids) && maybe("next", 4) {
			s.Next = later("to")
		}
		for maybe("retry", 2) && len(s.RetryIf) < 3 {
			way := millrace.Retry{Step: rapid.SampledFrom(ids[:i+1]).Draw(t, "back to"), Restart: maybe("restart", 3)}
			if maybe("keyword", 1) {
				way.Keyword = rapid.SampledFrom([]string{"again", "done", "find"}).Draw(t, "word")
			} else {
				way.When = rapid.SampledFrom([]condition.Condition{condition.StepFailed(id), condition.CountGT(id, 1)}).Draw(t, "way")
			}
			s.RetryIf = append(s.RetryIf, way)
		}
		if maybe("retries", 3) {
			s.MaxRetries = new(rapid.IntRange(1, 3).Draw(t, "max_retries"))
		}
		s.Action = n
		steps = append(steps, s)
	}
	return steps
}

// source matches a quoted template in a message. The template may have named a step by position.
var source = regexp.MustCompile(`template '[^']*'`)

// outcome returns all that a run reports of the included steps, without the prefix, and the tree that the run leaves.
func outcome(t *rapid.T, p millrace.Pipeline, prefix string, included map[string]bool) string {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "log", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := millrace.Run(context.Background(), fsys, p)
	if res == nil {
		t.Fatalf("no result: %v", err)
	}
	tree, readErr := txtarfs.Read(fsys, ".millrace")
	if readErr != nil {
		t.Fatal(readErr)
	}
	var told []any
	for _, s := range res.Results {
		if s.Duration = 0; included[s.StepID] {
			told = append(told, s)
		}
	}
	for _, v := range res.History {
		for i := range v.Attempts {
			v.Attempts[i].Duration = 0
		}
		if v.Duration = 0; included[v.StepID] {
			told = append(told, v)
		}
	}
	told = append(told, res.Success, res.TotalEdits, res.FilesAffected, res.RollbackPerformed, millrace.ErrorCode(err))
	data, jsonErr := json.MarshalIndent(told, "", " ")
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	plain := strings.ReplaceAll(string(data), prefix+"-", "")
	return source.ReplaceAllString(plain, "template") + string(txtarfs.Format(tree))
}

// An included pipeline does the same as alone, whatever other steps surround it.
func TestIncludeProperty(t *testing.T) {
	t.Parallel()
	var built, refused, eventful int
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"zz", "zz-step1", "zz_find", "0zz"}).Draw(t, "prefix")
		options := millrace.Options{ContinueOnError: rapid.Bool().Draw(t, "goes on")}
		alone := millrace.New("p").Options(options)
		for _, s := range drawSteps(t, prefix) {
			alone = alone.Add(s).Builder
		}
		variables := []millrace.Variable{{Name: "dir", Default: "src"}, {Name: "count", Default: 3}, {Name: "list", Default: []string{"a", "b"}}}
		var has, hasOuter bool
		if has = rapid.IntRange(0, 3).Draw(t, "variables") == 0; has {
			alone = alone.Variables(variables...)
		}
		sub, err := alone.Build()
		if err != nil {
			refused++
			return
		}
		// These steps are always skipped: they only take up positions.
		idle := func(b millrace.Builder, id string) millrace.Builder {
			return b.Step(id, note{Text: "no"}).When(condition.FileExists("never")).Builder
		}
		outer := millrace.New("q").Options(options)
		for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"before"}, stepIDs...)), 0, 3, rapid.ID).Draw(t, "before") {
			if id != "vars" || !has {
				outer = idle(outer, id)
			}
			hasOuter = hasOuter || id == "vars"
		}
		if !hasOuter && rapid.Bool().Draw(t, "variables outside") {
			outer = outer.Variables(variables[:2]...)
		}
		outer = idle(outer.Include(sub, prefix), "after")
		p, err := outer.Build()
		if err != nil {
			t.Fatalf("alone it is valid, but: %v", err)
		}
		built++
		before, now := make(map[string]bool), make(map[string]bool)
		for _, s := range sub.Steps() {
			before[s.ID], now[prefix+"-"+s.ID] = true, true
		}
		want, got := outcome(t, sub, prefix, before), outcome(t, p, prefix, now)
		if want != got {
			data, _ := p.MarshalJSON()
			t.Fatalf("%s\nalone and included (-alone +included):\n%s", data, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
		if strings.Contains(want, `"attempts"`) {
			eventful++
		}
	})
	t.Logf("%d included, %d not valid, %d with jumps or attempts", built, refused, eventful)
	if many := built+refused >= 100; many && (built < refused/4 || eventful == 0) {
		t.Errorf("too few runs mean anything: %d included, %d not valid, %d with jumps or attempts", built, refused, eventful)
	}
}

package plans_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/walk"
	"github.com/millrace-go/millrace/risk"
)

// tampered returns the JSON of a plan after an attacker has changed it. change receives the plan, and its first change.
func tampered(t *testing.T, plan *millrace.Plan, change func(plan, first map[string]any)) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(suite.Stored(t, plan), &v); err != nil {
		t.Fatal(err)
	}
	change(v, v["changes"].([]any)[0].(map[string]any))
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// everyChange are pipelines on everyTree that together make every change that a step can make.
var everyChange = map[string]millrace.Pipeline{
	"edit":      suite.Edit("a.txt"),
	"create":    millrace.New("p").Step("c", actions.Create{Path: "d/new", Content: "n\n"}).MustBuild(),
	"overwrite": millrace.New("p").Step("c", actions.Create{Path: "a.txt", Content: "n\n", Overwrite: true}).MustBuild(),
	"copy":      millrace.New("p").Step("c", actions.Copy{Files: []string{"a.txt"}, To: "copy"}).MustBuild(),
	"copy over": millrace.New("p").Step("c", actions.Copy{Files: []string{"a.txt"}, To: "b.txt", Overwrite: true}).MustBuild(),
	"rename":    millrace.New("p").Step("r", actions.Rename{Files: []string{"a.txt"}, To: "d/moved"}).MustBuild(),
	"rename over": millrace.New("p").Step("r", actions.Rename{Files: []string{"a.txt"}, To: "b.txt", Overwrite: true}).
		Step("c", actions.Create{Path: "a.txt", Content: "again\n"}).MustBuild(),
	"rename and edit": millrace.New("p").Step("r", actions.Rename{Files: []string{"a.txt"}, To: "moved"}).
		Step("e", actions.Edit{Files: []string{"moved"}, OldText: "x", NewText: "y"}).MustBuild(),
	"swap": millrace.New("p").Step("r", actions.Rename{Files: []string{"a.txt"}, To: "t"}).
		Step("s", actions.Rename{Files: []string{"b.txt"}, To: "a.txt"}).Step("t", actions.Rename{Files: []string{"t"}, To: "b.txt"}).MustBuild(),
	"delete":       millrace.New("p").Step("d", actions.Delete{Files: []string{"a.txt"}}).MustBuild(),
	"for good":     millrace.New("p").Step("d", actions.Delete{Files: []string{"a.txt"}, Permanent: true}).MustBuild(),
	"rename link":  millrace.New("p").Step("r", actions.Rename{Files: []string{"link"}, To: "d/link"}).MustBuild(),
	"delete link":  millrace.New("p").Step("d", actions.Delete{Files: []string{"link"}}).MustBuild(),
	"many at once": millrace.New("p").Step("e", actions.Edit{Files: []string{"a.txt", "b.txt"}, OldText: "x", NewText: "y"}).Step("c", actions.Create{Path: "z/z/z", Content: ""}).MustBuild(),
}

func everyTree(t *testing.T) *rootfs.FS {
	t.Helper()
	dir, root := suite.Rooted(t, "a.txt", "x\nx\n", "b.txt", "b\nx\n", "d/other", "o\n")
	suite.Link(t, "../outside", dir+"/link")
	if err := os.Chmod(dir+"/a.txt", 0o640|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	return root
}

// A stored plan stays the same: its digest, its blocks, its effect, and its success.
func TestStoredPlanIsTheSame(t *testing.T) {
	x := millrace.Executor{State: millrace.State{NoSync: true}}
	seen := make(map[string]string)
	for name, p := range everyChange {
		t.Run(name, func(t *testing.T) {
			one, two := everyTree(t), everyTree(t)
			plan, err := x.Plan(t.Context(), one, p)
			if err != nil {
				t.Fatal(err)
			}
			digest, err := plan.Digest()
			if err != nil || seen[digest] != "" || len(digest) != 64 {
				t.Fatalf("digest %s, as of %q, %v", digest, seen[digest], err)
			}
			seen[digest] = name
			taken, err := x.OpenPlan(t.Context(), one, suite.Stored(t, plan))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := taken.Digest(); again != digest || err != nil {
				t.Errorf("digest %s, stored %s, %v", digest, again, err)
			}
			was, is := plan.Result(), taken.Result()
			if diff := cmp.Diff(asJSON(t, was), asJSON(t, is)); diff != "" {
				t.Errorf("the result (-plan +stored):\n%s", diff)
			}
			if _, err := taken.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Run(t.Context(), two, p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(contents(t, two), contents(t, one)); diff != "" {
				t.Errorf("the tree (-run +stored plan):\n%s", diff)
			}
		})
	}
}

func asJSON(t *testing.T, res *millrace.Result) string {
	t.Helper()
	data, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func contents(t *testing.T, fsys *rootfs.FS) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := walk.Walk(t.Context(), fsys, ".", walk.Options{All: true, NoIgnore: true, Workers: 1, Skip: func(name string, _ bool) bool {
		return name == millrace.DefaultStateDir
	}}, func(e walk.Entry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		all[e.Path()] = info.Mode().String()
		if e.Kind == change.File {
			data, err := afero.ReadFile(fsys, e.Path())
			all[e.Path()] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The failure of a step survives JSON, and a later request for the same run.
func TestStoredPlanKeepsThatAStepFailed(t *testing.T) {
	p := millrace.New("p").Step("bad", actions.Edit{Files: []string{"none"}, OldText: "x", NewText: "y"}).
		Step("good", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
		MustBuild().WithOptions(millrace.Options{ContinueOnError: true})
	x := millrace.Executor{State: millrace.State{NoSync: true}, RunID: "once"}
	var outcomes []string
	var results []*millrace.Result
	note := func(res *millrace.Result, err error) {
		t.Helper()
		step, ok := errors.AsType[*millrace.StepError](err)
		if !ok || step.Step != "bad" || step.Index != 0 || !step.Committed || res.Success {
			t.Errorf("success %v, error %#v", res.Success, err)
			return
		}
		res.BackupID, res.Replayed, res.TotalDuration, res.Guarantee = "", false, 0, "" // a replay does not have these
		for i := range res.Results {
			res.Results[i].Duration = 0
		}
		outcomes, results = append(outcomes, err.Error()), append(results, res)
	}
	direct, through := suite.Tree("a.txt", "x\n"), suite.Tree("a.txt", "x\n")
	plan, err := x.Plan(t.Context(), direct, p)
	if err != nil {
		t.Fatal(err)
	}
	note(plan.Commit(t.Context()))
	note(x.Run(t.Context(), direct, p))
	plan, err = x.Plan(t.Context(), through, p)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := x.OpenPlan(t.Context(), through, suite.Stored(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	note(taken.Commit(t.Context()))
	note(x.Run(t.Context(), through, p))
	if len(outcomes) != 4 || len(slices.Compact(outcomes)) != 1 {
		t.Errorf("errors %q", outcomes)
	}
	for _, res := range results {
		if diff := cmp.Diff(results[0], res); diff != "" {
			t.Errorf("the results differ:\n%s", diff)
		}
	}
	// An expected failure is not a failure, live or stored.
	p = millrace.New("p").Step("bad", actions.Edit{Files: []string{"none"}, OldText: "x", NewText: "y"}).
		Step("good", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).When(condition.StepFailed("bad")).MustBuild()
	fsys := suite.Tree("a.txt", "x\n")
	if plan, err = (millrace.Executor{}).Plan(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if taken, err = (millrace.Executor{}).OpenPlan(t.Context(), fsys, suite.Stored(t, plan)); err != nil {
		t.Fatal(err)
	}
	if res, err := taken.Commit(t.Context()); err != nil || !res.Success {
		t.Errorf("%+v, %v", res, err)
	}
}

// A stored plan does only what steps can do, whatever its text claims.
func TestStoredPlanDoesNoMoreThanSteps(t *testing.T) {
	state := func(kind string, more ...any) map[string]any {
		s := map[string]any{"kind": kind}
		for i := 0; i < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		return s
	}
	linkTo := func(target string) func(plan, first map[string]any) {
		return func(_, first map[string]any) {
			delete(first, "content")
			first["new"] = state("symlink", "mode", 0o777, "target", target)
		}
	}
	mode := func(m os.FileMode) func(plan, first map[string]any) {
		return func(_, first map[string]any) { first["new"].(map[string]any)["mode"] = m }
	}
	for name, tt := range map[string]struct {
		of     string
		change func(plan, first map[string]any)
		want   string
	}{
		"link to outside":           {"create", linkTo("../../etc/passwd"), "escapes"},
		"link to an absolute name":  {"create", linkTo("/etc/passwd"), "escapes"},
		"link to hooks":             {"create", linkTo("../.git/hooks"), "version control"},
		"link to the state":         {"create", linkTo("../sub/.millrace"), "state directory"},
		"link to outside by a link": {"create", linkTo("../link/x"), "escapes"},
		"link to nothing":           {"create", linkTo(""), "symbolic link"},
		"another target":            {"rename link", func(_, f map[string]any) { f["new"].(map[string]any)["target"] = "../../x" }, "escapes"},
		"setuid":                    {"copy", mode(0o755 | os.ModeSetuid), "setuid"},
		"setgid":                    {"create", mode(0o755 | os.ModeSetgid), "setgid"},
		"type bits":                 {"create", mode(0o755 | os.ModeDir), "not permissions"},
		"hash of before missing":    {"delete", func(_, f map[string]any) { delete(f["old"].(map[string]any), "sha256") }, "hash"},
		"hash of after missing":     {"create", func(_, f map[string]any) { delete(f["new"].(map[string]any), "sha256") }, "hash"},
		"created over something":    {"edit", func(_, f map[string]any) { f["kind"] = "created" }, "do not fit"},
		"deleted, but there after":  {"edit", func(_, f map[string]any) { f["kind"] = "deleted" }, "do not fit"},
		"modified out of nothing":   {"copy", func(_, f map[string]any) { f["kind"] = "modified" }, "do not fit"},
		"unknown kind":              {"edit", func(_, f map[string]any) { f["kind"] = "chmod" }, "do not fit"},
		"renamed to itself":         {"edit", func(_, f map[string]any) { f["kind"], f["from"] = "renamed", f["path"] }, "do not fit"},
		"file becomes a link":       {"rename", func(_, f map[string]any) { f["new"] = state("symlink", "target", "other") }, "do not fit"},
		"permanent edit":            {"edit", func(_, f map[string]any) { f["permanent"] = true }, "permanently"},
		"replaces what it does not": {"edit", func(_, f map[string]any) { f["replaced"] = f["old"] }, "replaces"},
		"content beside splices":    {"edit", func(_, f map[string]any) { f["content"] = "eA==" }, "does not write"},
		"a device in its place":     {"rename over", func(p, f map[string]any) { p["changes"].([]any)[1].(map[string]any)["replaced"] = state("other") }, "a change from"},
		"two renames of one file": {"rename", func(p, f map[string]any) {
			second := maps.Clone(f)
			second["path"] = "d/moved too"
			p["changes"] = append(p["changes"].([]any), second)
		}, "two renames take the same file"},
		"renamed and deleted": {"rename", func(p, f map[string]any) {
			p["changes"] = []any{map[string]any{"kind": "deleted", "path": "a.txt", "old": f["old"], "new": state("absent")}, f}
		}, "renamed away"},
	} {
		t.Run(name, func(t *testing.T) {
			root := everyTree(t)
			before := contents(t, root)
			x := millrace.Executor{State: millrace.State{NoSync: true}}
			plan, err := x.Plan(t.Context(), root, everyChange[tt.of])
			if err != nil {
				t.Fatal(err)
			}
			data := tampered(t, plan, tt.change)
			taken, err := x.OpenPlan(t.Context(), root, data)
			if _, ok := errors.AsType[*millrace.PlanError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q\n%s", err, tt.want, data)
			}
			if taken != nil {
				_, _ = taken.Commit(t.Context())
			}
			if diff := cmp.Diff(before, contents(t, root)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// A text that two readers may read as two plans is not a plan.
func TestStoredPlanIsStrictJSON(t *testing.T) {
	fsys := suite.Tree("a.txt", "x\n")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	good := string(suite.Stored(t, plan))
	for name, change := range map[string][3]string{
		"repeated name":       {`"path":"a.txt"`, `"path":"b.txt","path":"a.txt"`, `name "path" appears twice`},
		"repeated by escape":  {`"path":"a.txt"`, `"path":"b.txt","p\u0061th":"a.txt"`, `name "path" appears twice`},
		"another case":        {`"path":"a.txt"`, `"Path":"b.txt"`, `unknown field "Path": did you mean "path"?`},
		"both cases":          {`"path":"a.txt"`, `"path":"b.txt","PATH":"a.txt"`, `unknown field "PATH"`},
		"in the result":       {`"success":true`, `"success":true,"Success":false`, `unknown field "Success"`},
		"in the options":      {`"options":{`, `"options":{"Force":true,`, `unknown field "Force"`},
		"repeated in options": {`"options":{`, `"options":{"force":false,"force":true,`, `name "force" appears twice`},
		"half a character":    {`"name":"edit"`, `"name":"\ud800"`, "surrogate"},
		"not UTF-8":           {`"name":"edit"`, "\"name\":\"\xff\"", "UTF-8"},
		"list for a text":     {`"name":"edit"`, `"name":["p"]`, "expected a plain value"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing was changed in %s", name, good)
		}
		_, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, []byte(bad))
		if _, ok := errors.AsType[*millrace.PlanError](err); !ok || !strings.Contains(err.Error(), change[2]) {
			t.Errorf("%s: error = %v, want %q", name, err, change[2])
		}
	}
}

// The risk depends on the real changes: removing the splices from a plan, and claiming that there were none, does not
// lower it.
func TestStoredPlanIsJudgedByItsChanges(t *testing.T) {
	text := strings.Repeat("x\n", 600) + strings.Repeat("same\n", 50) + strings.Repeat("x\n", 600)
	fsys := suite.Tree("a.txt", text)
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	data := tampered(t, plan, func(p, first map[string]any) {
		delete(first, "splices")
		first["content"] = base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(text, "x", "y")))
		res := p["result"].(map[string]any)
		res["total_edits"], res["would_block"], res["overall_risk_level"] = 0, false, "LOW"
		delete(res, "block_reason")
	})
	taken, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, data)
	if err != nil {
		t.Fatal(err)
	}
	if res := taken.Result(); res.OverallRiskLevel != risk.Critical || !res.WouldBlock {
		t.Errorf("risk %v, blocked %v", res.OverallRiskLevel, res.WouldBlock)
	}
	if _, err := taken.Commit(t.Context()); err == nil || err.Error() != "operation blocked due to CRITICAL risk. Use force=true to proceed" {
		t.Errorf("commit: %v", err)
	}
	if _, err := taken.WithForce(true).Commit(context.Background()); err != nil {
		t.Errorf("with force: %v", err)
	}
}

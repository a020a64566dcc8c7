package hostile_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// rightsPlaces returns directories with a file f in which the user nobody lacks permissions.
func rightsPlaces(t *testing.T) map[string]func(dir string) {
	own := func(path string, uid int, mode os.FileMode) {
		t.Helper()
		must(t, os.Lchown(path, uid, uid), os.Chmod(path, mode))
	}
	return map[string]func(dir string){
		"own":                        func(string) {},
		"locked":                     func(dir string) { own(dir, nobody, 0o555) },
		"of root":                    func(dir string) { own(dir, 0, 0o755) },
		"sticky, file of root":       func(dir string) { own(dir, 0, 0o1777|os.ModeSticky); own(dir+"/f", 0, 0o666) },
		"sticky, own file":           func(dir string) { own(dir, 0, 0o777|os.ModeSticky) },
		"own and sticky":             func(dir string) { own(dir, nobody, 0o777|os.ModeSticky); own(dir+"/f", 0, 0o666) },
		"sticky, directory of root":  func(dir string) { own(dir, 0, 0o777|os.ModeSticky); own(dir+"/sub", 0, 0o777) },
		"sticky, and all is of root": func(dir string) { own(dir, 0, 0o777|os.ModeSticky); own(dir+"/sub", 0, 0o777); own(dir+"/f", 0, 0o666) },
		"locked below":               func(dir string) { own(dir+"/sub", nobody, 0o555) },
		"empty and locked below":     func(dir string) { must(t, os.Remove(dir+"/sub/g")); own(dir+"/sub", nobody, 0o555) },
		"of root below":              func(dir string) { own(dir+"/sub", 0, 0o755) },
		"sticky below":               func(dir string) { own(dir+"/sub", 0, 0o777|os.ModeSticky); own(dir+"/sub/g", 0, 0o666) },
		"above a wall":               func(dir string) { own(filepath.Dir(dir), 0, 0o755) },
		"above a sticky wall":        func(dir string) { own(filepath.Dir(dir), 0, 0o777|os.ModeSticky) },
		"file of root":               func(dir string) { own(dir+"/f", 0, 0o666) },
	}
}

// rightsSteps returns steps that work on the file o next to the directory "in/d", and on the entries of that directory.
// The second value of a step that has on_error is true.
func rightsSteps() map[string]struct {
	step      obj
	continues bool
} {
	type step = struct {
		step      obj
		continues bool
	}
	both := []string{"in/d/f", "o"}
	edit := obj{"command": "str_replace", "old_str": "word", "new_str": "other"}
	patch := ""
	for _, name := range both {
		patch += fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-word\n+other\n", name, name)
	}
	created := strings.Replace(patch, "--- a/in/d/f\n+++ b/in/d/f\n@@ -1 +1 @@\n-word\n", "--- /dev/null\n+++ b/in/d/n\n@@ -0,0 +1 @@\n", 1)
	moved := "diff --git a/in/d/f b/n\nsimilarity index 100%\nrename from in/d/f\nrename to n\n"
	return map[string]step{
		"create":           {act("create", obj{"path": "in/d/n", "content": "x"}), false},
		"create below":     {act("create", obj{"path": "in/d/sub/n", "content": "x"}), false},
		"create deep":      {act("create", obj{"path": "in/d/n/n", "content": "x"}), false},
		"overwrite":        {act("create", obj{"path": "in/d/f", "content": "x", "overwrite": true}), false},
		"delete":           {act("delete", obj{"files": both}), false},
		"delete for good":  {act("delete", obj{"files": both, "permanent": true}), false},
		"delete tree":      {act("delete", obj{"files": []string{"in/d"}, "recursive": true}), false},
		"delete below":     {act("delete", obj{"files": []string{"in/d/sub"}, "recursive": true}), false},
		"rename":           {act("rename", obj{"files": []string{"in/d/f"}, "to": "n"}), false},
		"rename there":     {act("rename", obj{"files": []string{"o"}, "to": "in/d/n"}), false},
		"rename over":      {act("rename", obj{"files": []string{"o"}, "to": "in/d/f", "overwrite": true}), false},
		"rename within":    {act("rename", obj{"files": []string{"in/d/f"}, "to": "in/d/n"}), false},
		"rename tree":      {act("rename", obj{"files": []string{"in/d"}, "to": "n"}), false},
		"rename its name":  {act("rename", obj{"files": []string{"in/d"}, "to": "in/n"}), false},
		"rename below":     {act("rename", obj{"files": []string{"in/d/sub"}, "to": "n"}), false},
		"rename its below": {act("rename", obj{"files": []string{"in/d/sub"}, "to": "in/d/n"}), false},
		"copy":             {act("copy", obj{"files": []string{"in/d/f"}, "to": "n"}), false},
		"copy there":       {act("copy", obj{"files": []string{"o"}, "to": "in/d/n"}), false},
		"mode":             {act("copy", obj{"files": []string{"o"}, "to": "in/d/f", "overwrite": true}), false},
		"copy over":        {act("copy", obj{"files": []string{"other"}, "to": "in/d/f", "overwrite": true}), false},
		"sync_files":       {act("sync_files", obj{"dir": "in/d", "mark": "word", "texts": obj{"in/d/n": "word"}}), false},
		"edit":             {act("edit", obj{"files": both, "old_text": "word", "new_text": "other"}), true},
		"multi_edit":       {act("multi_edit", obj{"files": both, "edits": []obj{{"old_text": "word", "new_text": "other"}}}), true},
		"regex_transform":  {act("regex_transform", obj{"files": both, "patterns": []obj{{"pattern": "word", "replacement": "other"}}}), true},
		"pattern_replace":  {act("pattern_replace", obj{"files": both, "sed_pattern": "s/word/other/"}), true},
		"edit_files": {act("edit_files", obj{"file_edits": []obj{{"path": "in/d/f", "edits": []obj{edit}},
			{"path": "o", "edits": []obj{edit}}}}), true},
		"edit_files anew": {act("edit_files", obj{"file_edits": []obj{{"path": "in/d/n", "edits": []obj{{"command": "create", "file_text": "x"}}},
			{"path": "o", "edits": []obj{edit}}}}), true},
		"patch":          {act("patch", obj{"patch": patch}), true},
		"patch anew":     {act("patch", obj{"patch": created}), true},
		"patch and move": {act("patch", obj{"patch": moved + "diff --git a/o b/o\n" + strings.SplitAfterN(patch, "+other\n", 2)[1]}), true},
	}
}

// TestHostile_the_rights_of_a_user: the permissions of the user are unknown until the system refuses a change, so the
// test tries each change first. All other runs fail in exactly the refused cases: the step, for the file; with
// ReplaceForeign the commit, before its first byte. With on_error continue the other file is changed.
func TestHostile_the_rights_of_a_user(t *testing.T) {
	t.Parallel()
	top := openTemp(t)
	jobs := map[string]*diskJob{"system": {Foreign: true, Blind: true}, "commit": {Foreign: true}, "step": {}, "continue": {}}
	at := func(place, step, way string) string { return filepath.Join(top, way, place, step) }
	places, steps := rightsPlaces(t), rightsSteps()
	if fstest.ByItself(0, 1) == 0 { // these show each kind of refusal
		few := []string{"own", "of root", "sticky, and all is of root", "own and sticky", "empty and locked below", "file of root"}
		maps.DeleteFunc(places, func(name string, _ func(string)) bool { return !slices.Contains(few, name) })
	}
	for place, lock := range places {
		for name, s := range steps {
			for way, job := range jobs {
				params := s.step["params"].(obj)
				delete(params, "on_error")
				if way == "continue" {
					if !s.continues {
						continue
					}
					params["on_error"] = "continue"
				}
				dir := at(place, name, way)
				plantDir(t, dir, "o=word", "in/d/f=word", "in/d/sub/g=word", "other=x")
				must(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
					must(t, err)
					return os.Lchown(name, nobody, nobody)
				}))
				lock(filepath.Join(dir, "in/d"))
				must(t, os.WriteFile(dir+".json", pipeline(t, s.step), 0o644))
				job.Trees = append(job.Trees, dir)
			}
		}
	}
	user := as(t, nobody)
	reports := make(map[string]map[string]diskReport)
	for way, job := range jobs {
		reports[way] = job.start(t, user).Trees
	}
	refused := 0
	for place := range places {
		for name, s := range steps {
			of := func(way string) diskReport { return reports[way][at(place, name, way)] }
			truth := of("system")
			denied := truth.is(syscall.EACCES) || truth.is(syscall.EPERM)
			if denied != (truth.Error != "") {
				t.Fatalf("%s: %s: it fails for another reason: %+v", place, name, truth)
			}
			if denied {
				refused++
			}
			for _, way := range []string{"commit", "step"} {
				got := of(way)
				late := name == "mode" // with other bytes it would become a file of this user, so only the commit fails
				named := "in/d"
				if name == "patch and move" {
					named = "patch failed: n "
				}
				if !denied && name == "mode" && got.State == millrace.CommitNone {
					continue // nothing changes, and the step may fail because of the directory
				}
				if denied != (got.Error != "") || denied && (got.State != millrace.CommitNone || !strings.Contains(got.Error, "denied")) ||
					denied && way == "step" && (!strings.Contains(got.Error, named) || !late && strings.Contains(got.Error, "commit failed")) {
					t.Errorf("%s: %s: the system: %q\nthe %s: %v %q", place, name, truth.Error, way, got.State, got.Error)
				}
			}
			if !s.continues {
				continue
			}
			goes := of("continue")
			if goes.Error != "" || denied != (len(goes.Failed) == 1) {
				t.Errorf("%s: %s: the run does not continue: %+v", place, name, goes)
			}
			for _, reason := range goes.Failed {
				if reason != "Permission denied" {
					t.Errorf("%s: %s: the reason is %q", place, name, reason)
				}
			}
			data, err := os.ReadFile(filepath.Join(at(place, name, "continue"), "o"))
			if err != nil || strings.TrimSpace(string(data)) != "other" {
				t.Errorf("%s: %s: the other file has %q (%v)", place, name, data, err)
			}
		}
	}
	t.Logf("%d of %d changes are refused by the system", refused, len(places)*len(steps))
	if refused < len(places) {
		t.Error("the table does not meet the system's refusals")
	}
}

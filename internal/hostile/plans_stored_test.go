package hostile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// hostilePlan returns the JSON of a plan with these changes, as an attacker would write it by hand.
func hostilePlan(t *testing.T, changes ...obj) []byte {
	t.Helper()
	data, err := json.Marshal(obj{
		"version": 1, "name": "hostile", "options": obj{"force": true}, "digest": "", "mutates": true, "changes": changes,
		"result": obj{"name": "hostile", "success": true, "results": []obj{}, "files_affected": []string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	hashOfNeedle = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hashOfX      = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // of "x"
)

// Plans are untrusted input. A change that no step could make is refused before a byte is written, with or without
// force.
func TestHostile_a_stored_plan_does_no_more_than_steps(t *testing.T) {
	t.Parallel()
	absent := obj{"kind": "absent"}
	file := func(hash string, mode int) obj { return obj{"kind": "file", "mode": mode, "size": 1, "sha256": hash} }
	created := func(path string, state obj, more ...obj) obj {
		c := obj{"kind": "created", "path": path, "old": absent, "new": state}
		if state["kind"] == "file" {
			c["content"] = "eA=="
		}
		for _, m := range more {
			for k, v := range m {
				c[k] = v
			}
		}
		return c
	}
	linkTo := func(target string) obj { return obj{"kind": "symlink", "mode": 0o777, "target": target} }
	const setuid, setgid = 1 << 23, 1 << 22
	for name, changes := range map[string][]obj{
		"link to the password file": {created("new", linkTo("/etc/passwd"))},
		"link out of the tree":      {created("dir/new", linkTo("../../outside"))},
		"link to the hooks":         {created("new", linkTo(".git/hooks"))},
		"link to the state":         {created("new", linkTo("dir/.millrace/tx"))},
		"a file that runs as root":  {created("new", file(hashOfX, 0o755|setuid))},
		"a file of the group":       {created("new", file(hashOfX, 0o755|setgid))},
		"setuid for what is there":  {{"kind": "modified", "path": "a.txt", "old": file(hashOfNeedle, 0o644), "new": file(hashOfNeedle, 0o755|setuid)}},
		"a nested state directory":  {created("dir/.millrace/tx/planted/plan", file(hashOfX, 0o644))},
		"hooks":                     {created(".git/hooks/pre-commit", file(hashOfX, 0o755))},
		"hooks of another system":   {created("_darcs/prefs/prehook", file(hashOfX, 0o755))},
		"one file to two places": {
			{"kind": "renamed", "path": "dir/one", "from": "a.txt", "old": file(hashOfNeedle, 0o644), "new": file(hashOfNeedle, 0o644)},
			{"kind": "renamed", "path": "dir/two", "from": "a.txt", "old": file(hashOfNeedle, 0o644), "new": file(hashOfNeedle, 0o644)},
		},
		"nobody knows what was there": {{"kind": "deleted", "path": "a.txt", "old": obj{"kind": "file", "mode": 0o644, "size": 13}, "new": absent}},
		"a directory for good":        {{"kind": "deleted", "path": "dir", "permanent": true, "old": obj{"kind": "dir", "mode": 0o755}, "new": absent}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, b *backend) {
				before := b.snapshot(t)
				plan, err := b.host.OpenPlan(t.Context(), b.fs, hostilePlan(t, changes...))
				if _, ok := errors.AsType[*millrace.PlanError](err); !ok || plan != nil {
					t.Errorf("plan %v, error %v, want a *PlanError", plan, err)
				}
				if err != nil && !strings.Contains(err.Error(), "invalid plan: ") {
					t.Errorf("error %q", err)
				}
				b.unchanged(t, before)
			})
		})
	}
	// The form itself is accepted: a correct change is made.
	b := newBackend(t, "memory")
	plan, err := b.host.OpenPlan(t.Context(), b.fs, hostilePlan(t, created("new", file(hashOfX, 0o644))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Commit(t.Context()); err != nil || b.content(t, "new") != "x" {
		t.Errorf("%v", err)
	}
}

// A plan with a duplicate key, or with a key in another case, is refused.
func TestHostile_a_stored_plan_with_two_readings(t *testing.T) {
	t.Parallel()
	b := newBackend(t, "memory")
	good := string(hostilePlan(t, obj{"kind": "created", "path": "new", "old": obj{"kind": "absent"}, "content": "eA==",
		"new": obj{"kind": "file", "mode": 0o644, "size": 1, "sha256": hashOfX}}))
	if _, err := b.host.OpenPlan(t.Context(), b.fs, []byte(good)); err != nil {
		t.Fatal(err)
	}
	before := b.snapshot(t)
	for what, change := range map[string][2]string{
		"two paths":         {`"path":"new"`, `"path":"shown","path":"new"`},
		"two spellings":     {`"path":"new"`, `"path":"shown","Path":"new"`},
		"an escaped key":    {`"path":"new"`, `"path":"shown","p\u0061th":"new"`},
		"the long s":        {`"version":1`, `"version":1,"ver\u017fion":1`},
		"two lists":         {`"changes":[`, `"changes":[],"changes":[`},
		"another list":      {`"changes":[`, `"CHANGES":[`},
		"two plans":         {`{"changes"`, `{} {"changes"`},
		"force, not forced": {`"force":true`, `"force":false,"Force":true`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing was changed in %s", what, good)
		}
		plan, err := b.host.OpenPlan(t.Context(), b.fs, []byte(bad))
		if _, ok := errors.AsType[*millrace.PlanError](err); !ok || plan != nil {
			t.Errorf("%s: error %v, want a *PlanError", what, err)
		}
	}
	b.unchanged(t, before)
}

// TestHostile_a_stored_plan_leads_through_a_link: a path of a plan must not lead through a link, because the host's
// rules for paths would not apply to its target.
func TestHostile_a_stored_plan_leads_through_a_link(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "secret", "deep"), 0o755), os.Mkdir(filepath.Join(dir, "pub"), 0o755),
		os.WriteFile(filepath.Join(dir, "secret", "deep", "key"), []byte("old\n"), 0o644), os.Symlink("../secret", filepath.Join(dir, "pub", "ld")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p := millrace.New("edit").Step("e", actions.Edit{Files: []string{"secret/deep/key"}, OldText: "old", NewText: "new"}).MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), root, p)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pub/ld/deep/key", "pub/ld/new/deep/key"} {
		text := strings.ReplaceAll(string(data), "secret/deep/key", name)
		_, err := millrace.Executor{AllowedPaths: []string{"pub"}}.OpenPlan(t.Context(), root, []byte(text))
		if bad, ok := errors.AsType[*millrace.PlanError](err); !ok || !strings.Contains(err.Error(), "leads through a symbolic link") {
			t.Errorf("%s: %v (%v)", name, err, bad)
		}
	}
	if _, err := (millrace.Executor{}).OpenPlan(t.Context(), root, data); err != nil {
		t.Errorf("the plan itself: %v", err)
	}
}

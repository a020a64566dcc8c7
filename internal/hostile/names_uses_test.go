package hostile_test

import "testing"

// role is the part that a path plays in a step.
type role string

const (
	source role = "source" // a file that is read or changed
	looked role = "looked" // the top of a search
	asked  role = "asked"  // the path of a condition
	target role = "target" // the place of a new file or directory
	base   role = "base"   // the directory that other paths are relative to
)

// use is a pipeline with the path in a parameter or condition.
type use struct {
	what   string
	role   role
	writes bool // the step changes the path itself
	steps  []obj
}

// everyRole is for paths that are refused in every place.
var everyRole = []role{source, looked, asked, target, base}

// uses puts the path into every path parameter of every action, and into conditions. The other files of the steps are
// in the planted tree.
func uses(p string) []use {
	files := []string{p}
	one := func(what string, r role, step obj) use {
		return use{what, r, false, []obj{step}}
	}
	change := func(what string, r role, step obj) use { return use{what, r, true, []obj{step}} }
	some := []string{"a.txt"}
	all := []use{
		one("read_ranges files", source, act("read_ranges", obj{"files": files})),
		one("read_ranges paths", source, act("read_ranges", obj{"paths": files})),
		one("count_occurrences files", source, act("count_occurrences", obj{"files": files, "pattern": "needle"})),
		change("edit files", source, act("edit", obj{"files": files, "old_text": "needle", "new_text": "pin"})),
		change("edit files, regex", source, act("edit", obj{"files": files, "old_text": "need(le)", "new_text": "$1", "mode": "regex"})),
		change("multi_edit files", source, act("multi_edit", obj{"files": files, "edits": []obj{{"old_text": "needle", "new_text": "pin"}}})),
		change("regex_transform files", source, act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": "ne+dle", "replacement": "pin"}}})),
		one("copy files", source, act("copy", obj{"files": files, "destination": "made"})),
		change("rename files", source, act("rename", obj{"files": files, "destination": "made"})),
		change("delete files", source, act("delete", obj{"files": files})),
		change("delete files, permanent", source, act("delete", obj{"files": files, "permanent": true})),
		one("diff file_a", source, act("diff", obj{"file_a": p, "file_b": "b.txt"})),
		one("diff file_b", source, act("diff", obj{"file_a": "b.txt", "file_b": p})),
		one("search path", looked, act("search", obj{"path": p, "pattern": "needle"})),
		one("list path", looked, act("list", obj{"path": p})),
		one("file_exists path", asked, act("count_occurrences", obj{"files": some, "pattern": "needle"}, obj{"condition": obj{"type": "file_exists", "path": p}})),
		one("file_not_exists path", asked, act("count_occurrences", obj{"files": some, "pattern": "needle"}, obj{"condition": obj{"type": "file_not_exists", "path": p}})),
	}
	for _, action := range []string{"copy", "rename"} {
		all = append(all,
			change(action+" destination", target, act(action, obj{"files": some, "destination": p})),
			change(action+" destination, preserve_paths", target, act(action, obj{"files": some, "destination": p, "preserve_paths": true})),
			change(action+" to", target, act(action, obj{"files": some, "to": p})),
			one(action+" base", base, act(action, obj{"files": some, "destination": "made", "base": p, "preserve_paths": true})),
		)
	}
	return all
}

// eachUse runs a test for every use of the path in these roles, on every backend. The test must not change the tree.
func eachUse(t *testing.T, p string, test func(t *testing.T, b *backend, u use), roles ...role) {
	t.Helper()
	eachUseOf(t, backendsFor(0), p, test, roles...)
}

// eachUseOf is eachUse for some backends.
func eachUseOf(t *testing.T, backends []string, p string, test func(t *testing.T, b *backend, u use), roles ...role) {
	t.Helper()
	eachOf(t, backends, func(t *testing.T, b *backend) {
		for _, u := range usesIn(p, roles...) {
			t.Run(u.what, func(t *testing.T) { test(t, b, u) })
		}
	})
}

// usesIn returns the uses of the path in these roles.
func usesIn(p string, roles ...role) []use {
	var some []use
	for _, u := range uses(p) {
		for _, r := range roles {
			if u.role == r {
				some = append(some, u)
			}
		}
	}
	return some
}

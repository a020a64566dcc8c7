package archtest

import (
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows are the packages of the module that each package may import outside of tests. A package that is not listed may
// import none of them.
var arrows = map[string][]string{
	".": {
		"actions", "agent", "backup", "budget", "bulkhead", "capability", "change", "command", "condition", "fsutil", "risk", "internal/template",
		"tool",
		"internal/backups", "internal/commit", "internal/definition", "internal/disk", "internal/emptied", "internal/errorform", "internal/exact", "internal/flow", "internal/form", "internal/guard", "internal/held",
		"internal/interpolate", "internal/journal", "internal/lenient", "internal/library", "internal/mend", "internal/modes",
		"internal/names", "internal/nearest", "internal/outcome", "internal/panics", "internal/params", "internal/planfile", "internal/preview", "internal/progress", "internal/raise",
		"internal/replay", "internal/rootfs", "internal/schedule", "internal/scratch", "internal/stage",
		"internal/strictjson", "internal/watch", "internal/workspace", "internal/show", "internal/kinds", "wording",
		"internal/worded",
	},
	"actions": {
		"agent", "budget", "capability", "change", "command", "fsutil",
		"internal/casing", "internal/charset", "internal/emptied", "internal/errorform", "internal/handle", "internal/lineedit", "internal/match", "internal/modes", "internal/names", "internal/nearest", "internal/panics",
		"internal/paramtags", "internal/patch", "internal/patch/placing", "internal/replace", "internal/scratch", "internal/sed", "internal/splice", "internal/stage", "internal/synonyms",
		"internal/textdiff", "internal/walk", "internal/show", "internal/strictjson", "internal/kinds", "wording",
		"internal/worded",
	},
	"agent":      {"budget", "command", "internal/errorform", "internal/strictjson"},
	"budget":     {"internal/errorform", "internal/show"},
	"bulkhead":   {"internal/errorform"},
	"capability": {"internal/errorform"},
	"change":     {"capability", "internal/backing"},
	"command": {
		"internal/errorform", "internal/panics", "internal/sandbox", "internal/names", "internal/show", "internal/kinds",
		"wording", "internal/worded",
	},
	"condition": {"internal/errorform", "internal/show", "internal/strictjson", "internal/synonyms"},
	"fsutil": {
		"capability", "change",
		"internal/names", "internal/raise", "internal/rootfs", "internal/stage", "internal/walk",
	},
	"internal/backups": {
		"backup", "capability", "change",
		"internal/backing", "internal/disk", "internal/journal", "internal/names", "internal/parallel", "internal/errorform",
	},
	"internal/commit": {
		"backup", "capability", "change",
		"internal/backing", "internal/disk", "internal/errorform", "internal/filelock", "internal/guard", "internal/journal",
		"internal/modes", "internal/names", "internal/panics", "internal/parallel", "internal/rootfs",
	},
	"internal/casing":  {},
	"internal/charset": {"change"},
	"internal/crashfs": {"capability", "internal/names"},
	"internal/definition": {
		"actions", "agent", "budget", "condition", "fsutil", "internal/template", "tool",
		"internal/flow", "internal/form", "internal/interpolate", "internal/lenient", "internal/mend", "internal/nearest", "internal/params",
		"internal/schedule", "internal/strictjson", "internal/show", "internal/kinds", "internal/synonyms", "wording",
	},
	"internal/disk": {
		"capability", "change", "internal/handle", "internal/modes", "internal/names", "internal/rootfs",
	},
	"internal/emptied":   {},
	"internal/errorfs":   {"capability", "internal/names"},
	"internal/fetched":   {},
	"internal/highlight": {},
	"internal/filelock": {
		"capability", "change",
		"internal/disk", "internal/names", "internal/panics", "internal/poll", "internal/rootfs",
	},
	"internal/form":        {"internal/nearest", "internal/strictjson"},
	"internal/fstest":      {"capability", "internal/names", "internal/raise", "internal/rootfs"},
	"internal/guard":       {"change", "internal/handle", "internal/modes", "internal/names"},
	"internal/handle":      {"capability", "change", "internal/modes", "internal/names"},
	"internal/interpolate": {"actions", "internal/kinds", "internal/match", "internal/nearest", "internal/params", "internal/sed", "internal/strictjson", "internal/structural", "internal/template"},
	"internal/journal": {
		"capability", "change",
		"internal/disk", "internal/guard", "internal/modes", "internal/names",
	},
	"internal/lenient":  {"internal/form", "internal/mend", "internal/strictjson", "internal/synonyms"},
	"internal/library":  {"internal/definition", "internal/names", "internal/nearest", "internal/raise", "internal/rootfs", "internal/show", "internal/stage"},
	"internal/lineedit": {"change", "fsutil", "internal/names"},
	"internal/match": {
		"internal/errorform", "internal/structural", "internal/show", "internal/kinds", "wording", "internal/worded",
	},
	"internal/memfs":    {"capability", "internal/handle", "internal/modes", "internal/names", "internal/poll"},
	"internal/mend":     {"internal/form", "internal/strictjson"},
	"internal/modes":    {"change"},
	"internal/names":    {"internal/kinds", "wording", "internal/worded"},
	"internal/outcome":  {"actions", "internal/kinds", "internal/params"},
	"internal/parallel": {"internal/panics"},
	"internal/panics":   {"internal/errorform"},
	"internal/patch":    {"change", "internal/show", "internal/textdiff", "internal/kinds", "wording", "internal/worded"},
	"internal/patch/placing": {
		"internal/errorform", "internal/patch", "internal/show",
	},
	"internal/params":   {"internal/form", "internal/paramtags", "internal/strictjson", "internal/synonyms", "internal/template"},
	"internal/poll":     {"capability"},
	"internal/preview":  {"actions", "internal/kinds", "change", "internal/backing", "internal/names", "internal/splice", "internal/textdiff"},
	"internal/progress": {"internal/names"},
	"internal/raise":    {"capability", "internal/memfs", "internal/names", "internal/rootfs"},
	"internal/replace":  {"change", "internal/errorform", "internal/match", "internal/names", "internal/splice"},
	"internal/replay": {
		"actions", "budget", "capability", "change", "command",
		"internal/definition", "internal/errorform", "internal/panics", "internal/params", "internal/scratch",
		"internal/stage",
	},
	"internal/recordlog": {
		"internal/handle", "internal/names",
	},
	"internal/rootfs": {
		"capability", "change",
		"internal/handle", "internal/modes", "internal/names", "internal/poll", "internal/errorform",
	},
	"internal/posix":      {"internal/match"},
	"internal/sed":        {"internal/match", "internal/posix"},
	"internal/strictjson": {"internal/nearest"},
	"internal/structural": {"internal/casing", "internal/show"},
	"internal/splice":     {"change", "internal/names"},
	"internal/stage": {
		"capability", "change",
		"internal/backing", "internal/guard", "internal/handle", "internal/modes", "internal/names", "internal/parallel",
		"internal/raise", "internal/rootfs", "internal/splice",
	},
	"internal/synonyms": {"internal/nearest"},
	"internal/template": {"internal/nearest", "internal/show", "internal/strictjson", "internal/synonyms"},
	"internal/textdiff": {"change"},
	"internal/walk": {
		"capability", "change",
		"internal/guard", "internal/handle", "internal/ignore", "internal/modes", "internal/names", "internal/panics",
	},
	"internal/planfile": {
		"actions", "change", "fsutil",
		"internal/backing", "internal/disk", "internal/guard", "internal/modes", "internal/preview", "internal/splice", "internal/stage", "internal/strictjson",
	},
	"internal/schedule": {"internal/stage"},
	"internal/scratch": {
		"capability", "change",
		"internal/guard", "internal/handle", "internal/ignore", "internal/modes", "internal/names", "internal/parallel", "internal/rootfs", "internal/stage",
		"internal/textdiff", "internal/walk",
	},
	"rundir": {
		".", "budget", "capability", "change", "fleet", "fsutil", "risk", "runs",
		"internal/disk", "internal/exact", "internal/filelock", "internal/handle", "internal/journal", "internal/kinds",
		"internal/names", "internal/panics", "internal/raise", "internal/recordlog", "internal/strictjson", "internal/show",
		"internal/errorform", "internal/fleetlimits", "internal/worded", "wording",
	},
	"internal/watch": {"internal/panics"},
	"internal/workspace": {
		"actions", "internal/kinds", "command", "internal/rootfs", "internal/scratch", "internal/stage",
	},
	"htmlreport":    {".", "change", "internal/page"},
	"internal/page": {".", "change", "fsutil", "internal/highlight"},
	"lsp":           {".", "actions", "change", "fsutil", "risk"},
	"runs": {
		".", "fsutil", "risk", "internal/errorform", "internal/params", "internal/show", "internal/strictjson",
		"internal/synonyms", "wording",
	},
	"millracetest": {
		".", "actions", "agent", "backup", "budget", "command", "fsutil",
		"internal/crashfs", "internal/errorfs", "internal/txtarfs",
	},

	"fleet": {
		".", "budget", "fsutil", "risk", "internal/errorform", "internal/fleetlimits", "internal/names",
		"internal/panics", "internal/show",
	},
	"fleet/gittrees": {
		".", "backup", "command", "fleet", "fsutil", "internal/names", "internal/show", "internal/errorform",
		"internal/fleetlimits",
	},
	"template": {"internal/template"},
	"tool": {
		"budget", "internal/errorform", "internal/nearest", "internal/panics", "internal/params", "internal/strictjson",
		"internal/template",
	},
	"internal/worded": {"internal/errorform", "wording"},
	"internal/kinds":  {"wording"},
}

// doors show a plan to users. They import the root and the public packages, as any importer, and no package imports
// them. The parts of their HTML pages are in internal/page.
var doors = []string{"htmlreport", "lsp"}

// modules are the modules that the library, without its tests, may depend on.
var modules = []string{
	module,
	"github.com/bmatcuk/doublestar/v4",
	"github.com/spf13/afero",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/text",
}

// ours returns the directory of one of our packages by its import path.
func ours(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// isExample reports whether a package is an example, which uses the library as any importer: it imports the root, and
// no package imports it.
func isExample(dir string) bool {
	return dir == "examples" || strings.HasPrefix(dir, "examples/")
}

// isSuite reports whether a package is a black-box suite or shared code of the suites: it imports the root, for tests
// only.
func isSuite(dir string) bool {
	return dir == "internal/suite" || strings.HasPrefix(dir, "internal/suite/")
}

// graph returns the packages of the module that each package imports outside of tests, on any system.
func graph(t *testing.T) map[string][]string {
	t.Helper()
	_, files := sources(t)
	imports := make(map[string][]string)
	for _, f := range files {
		if f.isTest() {
			continue
		}
		imports[f.dir()] = append(imports[f.dir()], nil...)
		for _, spec := range f.syntax.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if dir, ok := ours(importPath); ok && !slices.Contains(imports[f.dir()], dir) {
				imports[f.dir()] = append(imports[f.dir()], dir)
			}
		}
	}
	return imports
}

func TestArrows(t *testing.T) {
	t.Parallel()
	imports := graph(t)
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		for _, to := range imports[from] {
			switch {
			case isExample(to):
				t.Errorf("%s imports the example %s", from, to)
			case isSuite(to):
				t.Errorf("%s imports %s, which is for tests", from, to)
			case isSuite(from):
			case isExample(from):
				if strings.HasPrefix(to, "internal/") {
					t.Errorf("%s imports %s, which a reader of the example cannot import", from, to)
				}
			case slices.Contains(doors, to):
				t.Errorf("%s imports %s, which no package may import", from, to)
			case slices.Contains(doors, from) && strings.HasPrefix(to, "internal/") && to != "internal/page":
				t.Errorf("%s imports %s, which no importer could", from, to)
			case to == "." && !slices.Contains(arrows[from], to):
				t.Errorf("%s imports the root: only packages that list it in arrows may", from)
			case !slices.Contains(arrows[from], to):
				t.Errorf("%s must not import %s", from, to)
			}
		}
	}
}

// The arrows themselves must follow the design: no circles, and leaves without imports.
func TestArrowsOfArrows(t *testing.T) {
	t.Parallel()
	var reach func(from string, seen map[string]bool)
	reach = func(from string, seen map[string]bool) {
		for _, to := range arrows[from] {
			if !seen[to] {
				seen[to] = true
				reach(to, seen)
			}
		}
	}
	never := map[string][]string{
		"fsutil":          {"actions", "backup", "condition", "internal/commit", "internal/journal", "risk", "internal/template"},
		"actions":         {"backup", "condition", "internal/commit", "internal/journal", "risk", "internal/template"},
		"condition":       {"actions", "backup", "internal/commit", "internal/journal", "risk", "internal/template"},
		"command":         {"actions", "backup", "condition", "fsutil", "internal/stage", "internal/template"},
		"tool":            {"actions", "backup", "condition", "fsutil", "internal/commit", "internal/journal"},
		"internal/commit": {"actions", "condition", "risk", "internal/template"},
	}
	for from := range arrows {
		seen := make(map[string]bool)
		reach(from, seen)
		if seen[from] {
			t.Errorf("%s imports itself through other packages", from)
		}
		for _, to := range never[from] {
			if seen[to] {
				t.Errorf("%s may reach %s", from, to)
			}
		}
	}
	for _, leaf := range []string{"backup", "risk", "internal/ignore", "internal/nearest", "internal/show"} {
		if len(arrows[leaf]) > 0 {
			t.Errorf("%s is not a leaf", leaf)
		}
	}
	for above, below := range map[string][]string{
		"internal/strictjson": {"internal/nearest"},
		"internal/template":   {"internal/nearest", "internal/show", "internal/strictjson", "internal/synonyms"},
	} {
		if !slices.Equal(arrows[above], below) {
			t.Errorf("%s may only import %q", above, below)
		}
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	packages := goList(t, "./...")
	packages = slices.DeleteFunc(packages, func(importPath string) bool {
		dir, ok := ours(importPath)
		return ok && (isSuite(dir) || dir == "millracetest") // both are for tests
	})
	used := goList(t, append([]string{"-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...)
	slices.Sort(used)
	for _, m := range slices.Compact(used) {
		if !slices.Contains(modules, m) {
			t.Errorf("the library depends on %s", m)
		}
	}
	if !slices.Contains(used, module) {
		t.Errorf("go list found %q", used)
	}
}

// goList returns the words that go list prints in the root of the module.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	return strings.Fields(string(out))
}

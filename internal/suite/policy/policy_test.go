package policy_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// A link in the tree does not widen the host's AllowedPaths.
func TestAllowedPathsAreNotWidenedByLinks(t *testing.T) {
	for target, also := range map[string]string{".": ".", "secret": "secret", "other/../secret": "secret"} {
		dir, root := suite.Rooted(t, "secret/a.txt", "x\n", "other/b", "")
		suite.Link(t, target, dir+"/docs")
		x := millrace.Executor{AllowedPaths: []string{"docs"}, State: millrace.State{NoSync: true}}
		_, err := x.Run(t.Context(), root, suite.Edit("docs/secret/a.txt", "docs/a.txt"))
		host, ok := errors.AsType[*millrace.ExecutorError](err)
		if !ok || host.Field != "AllowedPaths" || host.Value != "docs" || !errors.Is(err, names.ErrNotAllowed) || !strings.Contains(err.Error(), also) {
			t.Errorf("-> %s: error = %v", target, err)
		}
		x.AllowedPaths = []string{"docs", also}
		if _, err := x.Run(t.Context(), root, suite.Edit("secret/a.txt")); err != nil {
			t.Errorf("-> %s, which is allowed: %v", target, err)
		}
	}
	// A parent directory may be a link as well, and a link that is created later is not followed.
	dir, root := suite.Rooted(t, "real/in/a.txt", "x\n")
	x := millrace.Executor{AllowedPaths: []string{"way/in", "later"}, State: millrace.State{NoSync: true}}
	suite.Link(t, "real", dir+"/way")
	if _, err := x.Run(t.Context(), root, suite.Edit("way/in/a.txt")); err == nil {
		t.Error("a link on the way to an allowed path was followed")
	}
	x.AllowedPaths = x.AllowedPaths[1:]
	plan, err := x.Plan(t.Context(), root, millrace.New("p").Step("s", actions.Search{Pattern: "x"}).MustBuild())
	if err != nil || len(plan.Result().FilesAffected) != 0 {
		t.Fatalf("%v, %v", plan, err)
	}
	suite.Link(t, "real", dir+"/later")
	if _, err := x.Run(t.Context(), root, suite.Edit("later/in/a.txt")); !errors.Is(err, names.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
}

// The state directory of a nested tree holds old texts of its files. It is closed to all steps, ignored or not.
func TestStateOfANestedTreeIsClosed(t *testing.T) {
	for _, host := range []millrace.Executor{{State: millrace.State{NoSync: true}}, {State: millrace.State{NoSync: true, Dir: "state"}}} {
		_, root := suite.Rooted(t, "sub/a.txt", "x password\n", "top.txt", "x\n")
		nested := afero.NewBasePathFs(root, "sub")
		if _, err := host.Run(t.Context(), nested, suite.Edit("a.txt")); err != nil {
			t.Fatal(err)
		}
		state := "sub/.millrace"
		if host.State.Dir != "" {
			state = "sub/state"
		}
		if _, err := root.Stat(state + "/backups"); err != nil {
			t.Fatal("no state to protect:", err)
		}
		find := millrace.New("p").Step("s", actions.Search{Pattern: "x", NoIgnore: true}).
			Step("l", actions.List{Depth: 9, NoIgnore: true}).MustBuild()
		res, err := host.Run(t.Context(), root, find)
		inState := func(name string) bool { return strings.HasPrefix(name, state) }
		if err != nil || len(res.FilesAffected) == 0 || slices.ContainsFunc(res.FilesAffected, inState) {
			t.Errorf("found %v, %v", res.FilesAffected, err)
		}
		for name, p := range map[string]millrace.Pipeline{
			"read":   millrace.New("p").Step("r", actions.ReadRanges{Files: []string{state + "/.gitignore"}}).MustBuild(),
			"edit":   suite.Edit(state + "/.gitignore"),
			"create": millrace.New("p").Step("c", actions.Create{Path: state + "/new", Content: "x"}).MustBuild(),
			"delete": millrace.New("p").Step("d", actions.Delete{Files: []string{state + "/.gitignore"}}).MustBuild(),
			"list":   millrace.New("p").Step("l", actions.List{Path: state}).MustBuild(),
		} {
			if _, err := host.Run(t.Context(), root, p); !errors.Is(err, names.ErrReserved) {
				t.Errorf("%s: error = %v, want ErrReserved", name, err)
			}
		}
	}
}

// The directory with the user's key is closed if it is in the tree. The rest of the tree stays open.
func TestKeyOfTheUserIsClosed(t *testing.T) {
	home, root := suite.Rooted(t, "notes/a.txt", "x\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("AppData", filepath.Join(home, ".config"))
	config, err := os.UserConfigDir()
	if err != nil {
		t.Skip("no configuration directory here:", err)
	}
	config = filepath.Join(config, "millrace")
	rel, err := filepath.Rel(home, config)
	if err != nil || strings.HasPrefix(rel, "..") {
		t.Skip("the configuration directory cannot be put into a tree here:", config)
	}
	rel = filepath.ToSlash(rel)
	// Before the key exists as well as afterwards: no step may create it either.
	for _, when := range []string{"before", "after"} {
		for name, p := range map[string]millrace.Pipeline{
			"copy":   millrace.New("p").Step("c", actions.Copy{Files: []string{rel + "/key"}, To: "stolen"}).MustBuild(),
			"create": millrace.New("p").Step("c", actions.Create{Path: rel + "/key", Content: "mine"}).MustBuild(),
			"delete": millrace.New("p").Step("d", actions.Delete{Files: []string{rel + "/key"}}).MustBuild(),
		} {
			if _, err := millrace.Run(t.Context(), root, p); !errors.Is(err, names.ErrReserved) {
				t.Errorf("%s there is a key, %s: error = %v, want ErrReserved", when, name, err)
			}
		}
		if when == "before" {
			if _, err := millrace.Run(t.Context(), root, suite.Edit("notes/a.txt")); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(config, "key")); err != nil {
				t.Fatal(err)
			}
		}
	}
	own, err := rootfs.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if _, err := millrace.Run(t.Context(), own, suite.Edit("key")); err == nil || !strings.Contains(err.Error(), "key of this user") {
		t.Errorf("on the directory itself: %v", err)
	}
	below, err := rootfs.Open(filepath.Dir(config))
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	if _, err := millrace.Run(t.Context(), below, suite.Edit("millrace/key")); !errors.Is(err, names.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
}

func TestDeniedAndReadOnlyPaths(t *testing.T) {
	files := []string{".env", "x\n", "sub/.env", "x\n", "go.mod", "x\n", "ci/a.yml", "x\n", "a.txt", "x\n"}
	x := millrace.Executor{DeniedPaths: []string{".env"}, ReadOnlyPaths: []string{"ci/**", "go.mod"}, State: millrace.State{NoSync: true}}
	force := millrace.Options{Force: true}
	everywhere := millrace.New("p").Step("s", actions.Search{Pattern: "x", NoIgnore: true}).MustBuild()
	res, err := x.Run(t.Context(), suite.Tree(files...), everywhere)
	if err != nil || !slices.Equal(res.FilesAffected, []string{"a.txt", "ci/a.yml", "go.mod"}) {
		t.Errorf("found %q, %v", res.FilesAffected, err)
	}
	for name, want := range map[string]error{
		".env": names.ErrDenied, "sub/.env": names.ErrDenied, "sub/.ENV": names.ErrDenied,
		"go.mod": names.ErrReadOnlyPath, "ci/a.yml": names.ErrReadOnlyPath, "a.txt": nil,
	} {
		for what, p := range map[string]millrace.Pipeline{
			"edit":   suite.Edit(name),
			"rename": millrace.New("p").Step("r", actions.Rename{Files: []string{name}, To: "new"}).MustBuild(),
			"delete": millrace.New("p").Step("d", actions.Delete{Files: []string{name}}).MustBuild(),
		} {
			if _, err := x.Run(t.Context(), suite.Tree(files...), p.WithOptions(force)); !errors.Is(err, want) {
				t.Errorf("%s %s: error = %v, want %v", what, name, err, want)
			}
		}
		// A plan that was made without the rule must keep it when it is opened, and so must a backup.
		if name == "sub/.ENV" {
			continue
		}
		fsys := suite.Tree(files...)
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit(name))
		if err != nil {
			t.Fatal(err)
		}
		data, err := plan.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.OpenPlan(t.Context(), fsys, data); !errors.Is(err, want) {
			t.Errorf("stored plan for %s: error = %v, want %v", name, err, want)
		}
		done, err := plan.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Restore(t.Context(), fsys, done.BackupID); !errors.Is(err, want) {
			t.Errorf("backup of %s: error = %v, want %v", name, err, want)
		}
	}
	for field, bad := range map[string]millrace.Executor{
		"DeniedPaths": {DeniedPaths: []string{"ok", "[a"}}, "ReadOnlyPaths": {ReadOnlyPaths: []string{"/etc"}},
	} {
		_, err := bad.Run(t.Context(), suite.Tree(files...), everywhere)
		if host, ok := errors.AsType[*millrace.ExecutorError](err); !ok || host.Field != field {
			t.Errorf("%s: error = %v", field, err)
		}
	}
	both := millrace.Executor{DeniedPaths: []string{"[a"}, ReadOnlyPaths: []string{"/etc"}}
	for range 30 { // the order is the same each time
		_, err := both.Run(t.Context(), suite.Tree(files...), everywhere)
		if host, ok := errors.AsType[*millrace.ExecutorError](err); !ok || host.Field != "DeniedPaths" {
			t.Fatalf("of two wrong fields the first is to be reported, error = %v", err)
		}
	}
}

func TestRequireMatches(t *testing.T) {
	x := millrace.Executor{RequireMatches: true, State: millrace.State{NoSync: true}}
	none, zero := suite.Edit("b.txt"), 0
	for name, tt := range map[string]struct {
		p    millrace.Pipeline
		fail bool
	}{
		"something":      {suite.Edit("a.txt"), false},
		"nothing":        {none, true},
		"one of two":     {suite.Edit("a.txt", "b.txt"), false},
		"no files":       {millrace.New("p").Step("s", actions.Search{Pattern: "q"}).Step("e", actions.Edit{OldText: "x", NewText: "y"}).From("s").MustBuild(), true},
		"only a search":  {millrace.New("p").Step("s", actions.Search{Pattern: "q"}).MustBuild(), false},
		"own expect":     {millrace.New("p").Step("e", actions.Edit{Files: []string{"b.txt"}, OldText: "x", NewText: "y"}).Expect(millrace.Expect{MinEdits: &zero}).MustBuild(), false},
		"a new file":     {millrace.New("p").Step("c", actions.Create{Path: "c", Content: ""}).MustBuild(), false},
		"no file to del": {millrace.New("p").Step("s", actions.Search{Pattern: "q"}).Step("d", actions.Delete{}).From("s").MustBuild(), true},
	} {
		fsys := suite.Tree("a.txt", "x\n", "b.txt", "z\n")
		_, err := x.Run(t.Context(), fsys, tt.p)
		_, isExpect := errors.AsType[*millrace.ExpectError](err)
		if isExpect != tt.fail || !tt.fail && err != nil {
			t.Errorf("%s: error = %v", name, err)
		}
		fsys = suite.Tree("a.txt", "x\n", "b.txt", "z\n")
		if _, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(t.Context(), fsys, tt.p); err != nil {
			t.Errorf("%s without the option: %v", name, err)
		}
	}
}

// An absolute name within the root's directory means the name in it, through a whole run and its commit.
func TestAbsoluteNamesOfARoot(t *testing.T) {
	dir, root := suite.Rooted(t, "src/a.txt", "x\n")
	outside := filepath.Join(t.TempDir(), "b.txt")
	if err := os.WriteFile(outside, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{State: millrace.State{NoSync: true}, AllowedPaths: []string{filepath.Join(dir, "src")}}
	abs := root.WithAbsolute()
	res, err := x.Run(t.Context(), abs, millrace.New("p").
		Step("s", actions.Search{Pattern: "x", Path: dir}).
		Step("e", actions.Edit{Files: []string{filepath.Join(dir, "src/a.txt")}, OldText: "x", NewText: "y"}).MustBuild())
	if err != nil || !slices.Equal(res.FilesChanged.Modified, []string{"src/a.txt"}) || suite.Read(t, abs, filepath.Join(dir, "src", "a.txt")) != "y\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := x.Run(t.Context(), abs, suite.Edit(outside)); !errors.Is(err, names.ErrEscape) {
		t.Errorf("outside: error = %v, want ErrEscape", err)
	}
	if _, err := (millrace.Executor{State: millrace.State{NoSync: true}}).Run(t.Context(), root, suite.Edit(filepath.Join(dir, "src/a.txt"))); !errors.Is(err, names.ErrAbsolute) {
		t.Errorf("without WithAbsolute: error = %v, want ErrAbsolute", err)
	}
	f, err := abs.Open(filepath.Join(dir, "src/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "y\n" {
		t.Errorf("%q, %v", text, err)
	}
}

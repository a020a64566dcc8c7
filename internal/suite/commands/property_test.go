package commands_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// randomScript returns a script of commands that change a tree. Some of them fail.
func randomScript(random *rand.Rand) string {
	names := []string{"a", "b", "d", "d/a", "d/e", "d/e/f", "x y", "n/1", "n"}
	pick := func() string { return "'" + names[random.IntN(len(names))] + "'" }
	lines := []string{"exec 2>/dev/null"}
	for n := range 1 + random.IntN(12) {
		a, b := pick(), pick()
		lines = append(lines, []string{
			fmt.Sprintf("echo %d > %s", n, a),
			fmt.Sprintf("printf 'no end %d' >> %s", n, a),
			"rm -rf " + a,
			"rm " + a,
			fmt.Sprintf("mv %s %s", a, b),
			fmt.Sprintf("mv -T %s %s", a, b),
			fmt.Sprintf("cp -r %s copy && mv copy %s; rm -rf copy", a, b), // not into itself: that depends on listing order
			fmt.Sprintf("mkdir -p %s", a),
			"rmdir " + a,
			"chmod 755 " + a,
			"chmod 640 " + a,
			"touch " + a,
			fmt.Sprintf("ln -s %s %s", "a", b),
			fmt.Sprintf("ln %s %s", a, b),
			"sed -i s/[0-9]/#/ " + a,
			fmt.Sprintf("mv -T %s tmp; mv -T %s %s; mv -T tmp %s", a, b, a, b),
			fmt.Sprintf("head -c 100000 /dev/zero > %s", a),
		}[random.IntN(17)])
	}
	return strings.Join(append(lines, "true"), "\n")
}

// treeOf returns a tree as text: the kinds of its files, permission bits, bytes, and targets of links.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		if d.Name() == ".millrace" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		switch {
		case d.IsDir():
			tree[rel] = info.Mode().String()
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			tree[rel] = fmt.Sprintf("%v %d %.40q", info.Mode(), len(data), data)
		default:
			target, _ := os.Readlink(name)
			tree[rel] = info.Mode().Type().String() + " " + target
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// A script changes the tree of a run as it changes a directory, by a run and by the commit of a plan. A second command
// sees the same tree.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	x := host(t)
	plant := func() string {
		dir, _ := suite.Rooted(t, "a", "one 1\n", "b", "two 2\n", "d/a", "three 3\n", "d/e/f", "four 4\n", "x y", "five 5\n")
		return dir
	}
	begin := fstest.Seed(t)
	for n := range fstest.Slowed(3, fstest.Runs(8, 60, 1000)) {
		seed := begin + uint64(n)
		random := rand.New(rand.NewPCG(seed, 1))
		text := randomScript(random)
		plain := plant()
		cmd := exec.Command("/bin/sh", "-c", text)
		cmd.Dir = plain
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v: %s", seed, err, out)
		}
		want := treeOf(t, plain)
		p := millrace.New("p").Options(millrace.Options{Force: true}).
			Step("change", script(text)).
			Step("seen", actions.Exec{Shell: "find . -type f -exec cksum {} + | sort; find . -type l | sort", Discard: true}).
			MustBuild()
		for _, way := range []string{"run", "plan"} {
			dir := plant()
			fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
			var res *millrace.Result
			var err error
			if way == "run" {
				res, err = x.Run(t.Context(), fsys, p)
			} else {
				var plan *millrace.Plan
				if plan, err = x.Plan(t.Context(), fsys, p); err == nil {
					res = plan.Result()
					_, err = plan.Commit(t.Context())
				}
			}
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, way, err, text)
			}
			if diff := cmp.Diff(want, treeOf(t, dir)); diff != "" {
				t.Fatalf("seed %d, %s (-sh +millrace):\n%s\n%s", seed, way, diff, text)
			}
			cmd := exec.Command("/bin/sh", "-c", "find . -type f -exec cksum {} + | sort; find . -type l | sort")
			cmd.Dir = plain
			out, err := cmd.Output()
			if err != nil || string(out) != res.Results[1].Output {
				t.Fatalf("seed %d, %s: a second command has seen\n%s, want\n%s\n%s", seed, way, res.Results[1].Output, out, text)
			}
		}
	}
}

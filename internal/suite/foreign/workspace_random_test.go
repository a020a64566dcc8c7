package foreign_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// randomWork returns a script of a few random changes of a tree.
func randomWork(random *rand.Rand) string {
	names := []string{"a", "b", "d", "d/f", "d/s", "d/s/g", "d/new", "n", "m"}
	pick := func() string { return names[random.IntN(len(names))] }
	lines := []string{"exec 2>/dev/null"}
	for i := range 1 + random.IntN(4) {
		a, b := pick(), pick()
		lines = append(lines, []string{
			fmt.Sprintf("echo ours %d >> %s", i, a),
			fmt.Sprintf("echo ours %d > t && mv -T t %s", i, a),
			"rm -rf " + a,
			"mv " + a + " " + b,
			"mv -T " + a + " " + b,
			fmt.Sprintf("mkdir -p %s/p && echo ours > %s/p/q", a, a),
			"chmod 700 " + a,
			"cp -r " + a + " copy && mv copy " + b + "; rm -rf copy",
		}[random.IntN(8)])
	}
	return strings.Join(append(lines, "true"), "\n")
}

// randomOthers returns a few random changes that another program makes to a tree.
func randomOthers(random *rand.Rand, run int) func(tree afero.Fs) error {
	names := []string{"a", "b", "d/f", "d/s/g", "d/new", "d/s/new", "n", "n/in", "m", "m/in"}
	return func(tree afero.Fs) error {
		for i := range 1 + random.IntN(3) {
			at := names[random.IntN(len(names))]
			text := fmt.Sprintf("theirs %d of run %d\n", i, run)
			if info, err := tree.Stat(at); err == nil && info.IsDir() || tree.MkdirAll(path.Dir(at), 0o755) != nil {
				continue
			}
			var err error
			if random.IntN(2) == 0 {
				err = afero.WriteFile(tree, at, []byte(text), 0o644)
			} else if err = afero.WriteFile(tree, "their.tmp", []byte(text), 0o644); err == nil {
				err = tree.Rename("their.tmp", at)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// TestForeign_workspaceRandom lets a command and another program change one tree at random. The tree has the writes of
// the other program afterwards, or the run is a conflict and has written nothing.
func TestForeign_workspaceRandom(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands need Unix")
	}
	seed := fstest.Seed(t)
	committed, conflicts := 0, 0
	for i := range fstest.Runs(60, 600, 20_000) {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		script := randomWork(random)
		other := randomOthers(random, i)
		ends := []string{"fleet", "plan", "run"}
		kinds := []string{"agent", "agent", "agent", "exec"}
		between, after, err := overtake(t, random.IntN(2) == 0, kinds[random.IntN(len(kinds))], ends[random.IntN(len(ends))], script, other,
			func(x *millrace.Executor) { x.Commands.KeepScratch = random.IntN(2) == 0 })
		var all strings.Builder
		for _, text := range after {
			all.WriteString(text)
		}
		for at, text := range between {
			_, text, _ = strings.Cut(text, " ") // without the mode
			if strings.Contains(text, "theirs") && !strings.Contains(all.String(), text) {
				t.Fatalf("run %d: the other program's text in %s is lost; the run returns %v\n%s\nbefore %q\nafter %q", i, at, err, script, between, after)
			}
		}
		switch {
		case err == nil:
			committed++
		case suite.Is[*millrace.ConflictError](err):
			conflicts++
			if fmt.Sprint(between) != fmt.Sprint(after) {
				t.Fatalf("run %d: a conflict has changed the tree\n%s\nbefore %q\nafter %q", i, script, between, after)
			}
		case !strings.Contains(err.Error(), "failed"):
			t.Fatalf("run %d: %v", i, err)
		}
	}
	if committed == 0 || conflicts == 0 {
		t.Errorf("%d runs were committed, %d were conflicts", committed, conflicts)
	}
	fstest.Countf(t, "%d committed, %d conflicts", committed, conflicts)
}

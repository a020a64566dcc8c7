package commands_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// seen prints everything that a command can see of its tree, except state directories and times.
const seen = `find . -mindepth 1 -name .millrace -prune -o -mindepth 1 -printf '%y %m %P %l\n' | LC_ALL=C sort
find . -name .millrace -prune -o -type f -exec sha256sum {} + | LC_ALL=C sort`

// drawScript returns a few random changes of a command to its tree.
func drawScript(random *rand.Rand) string {
	names := []string{"a.txt", "d/b.txt", "d", "n", "n/in", "l"}
	lines := []string{"exec 2>/dev/null"}
	for i := range 1 + random.IntN(4) {
		at, other := names[random.IntN(len(names))], names[random.IntN(len(names))]
		lines = append(lines, []string{
			fmt.Sprintf("echo %d >> %s", i, at),
			fmt.Sprintf("printf %d | dd of=%s conv=notrunc", i, at),
			"rm -rf " + at,
			"mv -T " + at + " " + other,
			"mkdir -p " + at + "; echo made > " + at + "/in",
			"chmod 750 " + at,
			"ln -sfn a.txt " + at,
			"cp -p a.txt t && mv -fT t " + at,
		}[random.IntN(8)])
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestKeepScratchProperty: a tree that is kept for the next run equals the files, whatever the commands of earlier runs
// did. Earlier runs include runs that were only planned, that failed, or whose changes were dropped.
func TestKeepScratchProperty(t *testing.T) {
	t.Parallel()
	x := host(t)
	x.Commands.KeepScratch = true
	dir, fsys := suite.Rooted(t, "a.txt", "one\n", "d/b.txt", "two\n")
	random := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	committed := 0
	for i := range fstest.Runs(30, 300, 10_000) {
		want, err := exec.Command("sh", "-c", "cd '"+dir+"' && "+seen).Output()
		fstest.Must(t, err)
		res := run(t, x, fsys, suite.One(actions.Exec{Shell: seen, Discard: true}))
		if got := res.Results[0].Output; got != string(want) {
			t.Fatalf("run %d: a command sees\n%sand the tree is\n%s", i, got, want)
		}
		work := drawScript(random)
		switch random.IntN(4) {
		case 0:
			_, err = x.Plan(t.Context(), fsys, suite.One(script(work+"true")))
		case 1:
			_, err = x.Run(t.Context(), fsys, suite.One(script(work+"exit 3")))
			if !suite.Is[*millrace.StepError](err) {
				t.Fatalf("run %d: a command that fails: %v", i, err)
			}
			err = nil
		case 2:
			_, err = x.Run(t.Context(), fsys, suite.One(actions.Exec{Shell: work + "true", Discard: true}))
		case 3:
			if _, err = x.Run(t.Context(), fsys, suite.One(script(work+"true"))); err == nil {
				committed++
			} else if suite.Is[*millrace.StepError](err) {
				err = nil // such as a link whose target is gone
			}
		}
		if err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, work)
		}
	}
	if committed == 0 {
		t.Error("nothing was committed")
	}
}

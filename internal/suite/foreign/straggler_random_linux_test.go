package foreign_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// leaving returns a script that leaves a process running in some random way. The process has the token among its
// arguments.
func leaving(random *rand.Rand, token string) string {
	script := "x"
	for range 1 + random.IntN(3) {
		script = []string{
			`setsid -f "$@"`, `setsid "$@" &`, `nohup "$@" >/dev/null 2>&1 &`, `"$@" &`,
			`env -i /usr/bin/setsid -f "$@"`, `( ( "$@" & ) & )`, `( cd /; env -i /usr/bin/setsid "$@" & )`,
		}[random.IntN(7)] + "\n" + script
	}
	script = strings.TrimSuffix(script, "x")
	work := []string{`echo late >> "$2/a"`, `echo late > "$2/new"`, `echo late > "$2/d/new"`, `rm -rf "$2/d"`, `mv "$2/a" "$2/b"`}
	loop := "i=0; while [ $((i=i+1)) -lt 3000 ]; do " + work[random.IntN(len(work))] + "; " + work[random.IntN(len(work))] + "; /bin/sleep 0.01; done"
	return fmt.Sprintf("exec </dev/null >/dev/null 2>&1\nset -- /bin/sh -c '%s' sh %s \"$PWD\"\n%s\ntrue", loop, token, script)
}

// isAlive reports whether a process has the token among its arguments.
func isAlive(t *testing.T, token string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	fstest.Must(t, err)
	for _, name := range all {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte("\x00"+token+"\x00")) {
			return true
		}
	}
	return false
}

// TestForeign_stragglersRandom: commands leave processes running in random ways. None of them is alive after the run,
// and none has put anything into the tree that a later step commits.
func TestForeign_stragglersRandom(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("system calls are filtered on amd64 and arm64 only: elsewhere a process can remove its mark")
	}
	policy := command.Policy{Allow: []string{"*"}, Shell: true, Scratch: t.TempDir(), KeepScratch: true}
	if err := policy.Supported(); err != nil {
		t.Skipf("commands cannot be confined here: %v", err)
	}
	seed := fstest.Seed(t)
	runs := fstest.Runs(6, 60, 2_000)
	for i := range runs {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		token := fmt.Sprintf("straggler-%d-%d-%d", os.Getpid(), seed, i)
		dir, root := suite.Rooted(t, "a", "text\n", "d/f", "text\n")
		script := leaving(random, token)
		x := millrace.Executor{State: millrace.State{NoSync: true}, Commands: policy, DryRun: random.IntN(4) == 0}
		x.Commands.KeepScratch = random.IntN(2) == 0
		_, err := x.Run(t.Context(), root, millrace.New("p").Step("leave", actions.Exec{Shell: script, Discard: true}).
			Step("work", actions.Exec{Shell: "echo ours > n"}).MustBuild())
		if err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, script)
		}
		if isAlive(t, token) {
			t.Fatalf("run %d: a process is alive after the run\n%s", i, script)
		}
		x.DryRun = false
		if _, err := x.Run(t.Context(), root, suite.One(actions.Exec{Shell: "echo ours > n"})); err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, script)
		}
		states := statesOf(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
		if len(states) != 3 || !strings.HasSuffix(states["a"], " text\n") || !strings.HasSuffix(states["d/f"], " text\n") {
			t.Fatalf("run %d: the tree has %q\n%s", i, states, script)
		}
	}
	fstest.Countf(t, "%d commands that leave processes", runs)
}

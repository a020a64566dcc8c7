package recovery_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

const killEnv = "MILLRACE_TEST_KILL_DIR"

// TestMain runs the process that TestKill kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		root, err := rootfs.Open(dir)
		if err != nil {
			panic(err)
		}
		p := millrace.New("kill").
			Step("find", actions.Search{Pattern: "x"}).
			Step("edit", actions.Edit{OldText: "x", NewText: "y"}).From("find").
			Step("move", actions.Rename{Files: []string{"f00.txt"}, Destination: "moved"}).
			Step("gone", actions.Delete{Files: []string{"f01.txt"}}).
			MustBuild()
		if _, err := millrace.Run(context.Background(), root, p); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(fstest.Main(m))
}

// TestKill kills a process at different times of its run: after the recovery the tree is either the old or the new one.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts 30 processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[string]int)
	for i := range 30 {
		dir := t.TempDir()
		fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
		var files []txtarfs.File
		for k := range 25 {
			files = append(files, txtarfs.File{Name: "f" + string(rune('0'+k/10)) + string(rune('0'+k%10)) + ".txt", Data: []byte("x\n")})
		}
		if err := txtarfs.Write(fsys, files); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), killEnv+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 1500 * time.Microsecond)
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()

		if _, err := (millrace.Executor{}).Recover(t.Context(), fsys); err != nil {
			t.Fatal(err)
		}
		got, err := txtarfs.Read(fsys, ".millrace")
		if err != nil {
			t.Fatal(err)
		}
		switch text := txtarfs.Format(got); {
		case text == txtarfs.Format(files):
			outcomes["old"]++
		case strings.Count(text, "y\n") == 24 && !strings.Contains(text, "x\n") && strings.Contains(text, "-- moved/f00.txt --") && !strings.Contains(text, "-- f01.txt --"):
			outcomes["new"]++
		default:
			t.Fatalf("killed after %d steps of time, the tree is\n%s", i, text)
		}
		if left, _ := afero.ReadDir(fsys, ".millrace/tx"); len(left) > 0 {
			t.Fatalf("transactions are left: %v", left)
		}
	}
	t.Logf("trees after kill and recovery: %v", outcomes)
}

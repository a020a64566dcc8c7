package millrace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// count is a pipeline that must not be run twice: it adds an x each time.
func count() millrace.Pipeline {
	return millrace.New("count").Step("add", actions.Edit{Files: []string{"n.txt"}, OldText: "end", NewText: "x end"}).MustBuild()
}

func TestRunID(t *testing.T) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			x := millrace.Executor{RunID: "job-1"}
			first, err := x.Run(t.Context(), fsys, count())
			if err != nil {
				t.Fatal(err)
			}
			again, err := x.Run(t.Context(), fsys, count())
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, "n.txt"); got != "x end\n" {
				t.Errorf("the second run of the same id has written: %q", got)
			}
			if first.Replayed || !again.Replayed || again.BackupID != first.BackupID || again.TotalEdits != 1 || again.RunID != "job-1" || again.Commit.State != millrace.CommitApplied {
				t.Errorf("first %+v\nagain %+v", first, again)
			}
			if _, err := x.Run(t.Context(), fsys, edit("n.txt")); err == nil || !strings.Contains(err.Error(), `run id "job-1": it was used for another pipeline on this tree`) {
				t.Errorf("another pipeline: %v", err)
			}
			other := millrace.Executor{RunID: "job-2"}
			if _, err := other.Run(t.Context(), fsys, count()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, "n.txt"); got != "x x end\n" {
				t.Errorf("another id: %q", got)
			}
		})
	}
	if _, err := (millrace.Executor{RunID: "../x"}).Run(t.Context(), tree(), count()); err == nil {
		t.Error("a run id that leads elsewhere was accepted")
	}
}

// TestRunIDOfAFailure: a run that was not committed starts afresh.
func TestRunIDOfAFailure(t *testing.T) {
	fsys := tree("a.txt", "end\n")
	x := millrace.Executor{RunID: "job"}
	if _, err := x.Run(t.Context(), fsys, count()); err == nil {
		t.Fatal("no error although n.txt is missing")
	}
	if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if res, err := x.Run(t.Context(), fsys, count()); err != nil || res.Replayed {
		t.Errorf("%v, %v", res, err)
	}
}

// TestStoredRunFromElsewhere: a stored result that came with the tree is not believed.
func TestStoredRunFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("n.txt", "end\n")
	write(".millrace/runs/job.json", `{"digest":"`+count().Digest()+`","result":{"name":"count","success":true},"mac":""}`)
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = millrace.Executor{RunID: "job"}.Run(t.Context(), root, count())
	if _, ok := errors.AsType[*millrace.RunIDError](err); !ok {
		t.Errorf("error %v", err)
	}
}

// TestExecutorsWaitForEachOther: runs that count in one file at the same time end in the exact sum.
func TestExecutorsWaitForEachOther(t *testing.T) {
	const runs, each = 4, 10
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := afero.WriteFile(fsys, "n.txt", []byte("end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range runs {
				wg.Go(func() {
					for range each {
						if _, err := (millrace.Executor{NoSync: true}).Run(t.Context(), fsys, count()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := strings.Count(read(t, fsys, "n.txt"), "x"); got != runs*each {
				t.Errorf("counted %d, want %d", got, runs*each)
			}
		})
	}
}

// TestBackupsAreListedAndPruned: the newest are kept, as many as the host wants.
func TestBackupsAreListedAndPruned(t *testing.T) {
	fsys := tree("n.txt", "end\n")
	x := millrace.Executor{Backups: backup.Retention{Keep: 2}}
	var last string
	for range 4 {
		res, err := x.Run(t.Context(), fsys, count())
		if err != nil {
			t.Fatal(err)
		}
		last = res.BackupID
	}
	list, err := x.ListBackups(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Pipeline != "count" || list[0].Files != 1 || list[0].ID != last && list[1].ID != last {
		t.Errorf("backups %+v, the last one is %s", list, last)
	}
}

func TestLockWait(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "n.txt"), []byte("end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	locker, ok := afero.Fs(root).(fsutil.Locker)
	if !ok {
		t.Skip("a RootFs has no lock of its own on this system")
	}
	lock, err := locker.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{LockWait: 10 * time.Millisecond}
	if _, err := x.Run(t.Context(), root, count()); !errors.Is(err, fsutil.ErrLocked) {
		t.Errorf("while another holds the lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Run(ctx, root, count()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(t.Context(), root, count()); err != nil {
		t.Errorf("after the lock was given back: %v", err)
	}
}

const killEnv = "MILLRACE_TEST_KILL_DIR"

// TestMain runs the process that TestKill kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		root, err := fsutil.OpenRoot(dir)
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
	os.Exit(m.Run())
}

// TestKill kills a process at different times of its run: recovery leaves the old tree or the new one, and nothing else.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 30 processes: left out by -short")
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
		_ = cmd.Process.Kill() // it may be done already
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

package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
)

func TestLock(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := make(t)
			plant(t, fsys, "a=1")
			changes := staged(t, fsys, write("a", "A"))
			held, err := commit.Lock(bg, options(fsys))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
			defer cancel()
			_, err = commit.Apply(ctx, options(fsys), changes)
			if !errors.Is(err, fsutil.ErrLocked) {
				t.Errorf("while it is held: %v", err)
			}
			o := options(fsys)
			o.Lock = held
			o.DropBackup = true
			if _, err := commit.Apply(bg, o, changes); err != nil {
				t.Errorf("by the holder: %v", err)
			}
			for range 2 {
				if err := held.Close(); err != nil {
					t.Error(err)
				}
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok {
				t.Error("state directory is left")
			}
		})
	}
}

// TestLock_many counts up in one file, each time under the lock.
func TestLock_many(t *testing.T) {
	t.Parallel()
	for name, make := range backends() {
		if name == "rawmem" {
			continue // it is not safe to be used by several
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := make(t)
			plant(t, fsys, "n")
			const workers, rounds = 4, 10
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range rounds {
						if err := countUp(fsys); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			if data, _ := afero.ReadFile(fsys, "n"); len(data) != 1+workers*rounds {
				t.Errorf("%d of %d were counted", len(data)-1, workers*rounds)
			}
		})
	}
}

func countUp(fsys afero.Fs) (err error) {
	o := options(fsys)
	if o.Lock, err = commit.Lock(bg, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Lock.Close()) }()
	s := fsutil.NewStage(fsys)
	defer s.Close()
	data, err := afero.ReadFile(s, "n")
	if err != nil {
		return err
	}
	if err := afero.WriteFile(s, "n", append(data, '+'), 0o644); err != nil {
		return err
	}
	changes, err := s.Changes()
	if err != nil {
		return err
	}
	o.DropBackup = true
	_, err = commit.Apply(bg, o, changes)
	return err
}

// TestLock_stale finds lock files of other processes, on a file system without locks.
func TestLock_stale(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	tests := []struct {
		name, content string
		taken         bool
	}{
		{"dead process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, dead.Process.Pid), true},
		{"living process", fmt.Sprintf(`{"host":%q,"pid":%d,"token":"x"}`, host, os.Getppid()), false},
		{"other host", fmt.Sprintf(`{"host":"not-%s","pid":%d,"token":"x"}`, host, dead.Process.Pid), false},
		{"being written", `{"host":`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := backends()["plain"](t)
			if err := errors.Join(fsys.Mkdir(stateDir, 0o700), afero.WriteFile(fsys, stateDir+"/lock", []byte(tt.content), 0o600)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(bg, 30*time.Millisecond)
			if tt.taken {
				ctx = bg
			}
			defer cancel()
			l, err := commit.Lock(ctx, options(fsys))
			if tt.taken != (err == nil) || err != nil && !errors.Is(err, fsutil.ErrLocked) {
				t.Fatalf("error is %v", err)
			}
			if l != nil {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLock_lost has the lock file taken away, which must be noticed before the commit.
func TestLock_lost(t *testing.T) {
	t.Parallel()
	fsys := backends()["plain"](t)
	plant(t, fsys, "a=1")
	o := options(fsys)
	o.Observe = func(phase string) {
		if phase == "apply" {
			data, _ := json.Marshal(map[string]any{"host": "x", "pid": 1, "token": "another"})
			if err := afero.WriteFile(fsys, stateDir+"/lock", data, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	rep, err := commit.Apply(bg, o, staged(t, fsys, write("a", "A")))
	if !errors.Is(err, commit.ErrLockLost) || !rep.RolledBack {
		t.Errorf("%+v, %v", rep, err)
	}
	if data, _ := afero.ReadFile(fsys, "a"); string(data) != "a1" {
		t.Errorf("a is %q", data)
	}
}

const victimDir = "MILLRACE_TEST_VICTIM"

// TestMain turns the test binary into the process that TestKill9 kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim commits back and forth for ever.
func victim(dir string) {
	fail := func(err error) {
		fmt.Println(err)
		os.Exit(1)
	}
	fsys, err := fsutil.OpenRoot(dir)
	if err != nil {
		fail(err)
	}
	for i := 1; ; i++ {
		s := fsutil.NewStage(fsys)
		if err := errors.Join(rewrite(s, fmt.Sprint("generation ", i%10)), rename("d", "t")(s), rename("e", "d")(s), rename("t", "e")(s)); err != nil {
			fail(err)
		}
		changes, err := s.Changes()
		if err != nil {
			fail(err)
		}
		o := options(fsys)
		o.DropBackup = true
		if _, err := commit.Apply(bg, o, changes); err != nil {
			fail(err)
		}
		s.Close()
		if i == 1 {
			fmt.Println("ready")
		}
	}
}

const victims = 20

func rewrite(fsys afero.Fs, text string) error {
	for i := range victims {
		if err := afero.WriteFile(fsys, fmt.Sprintf("f%d", i), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// TestKill9 kills a real process while it commits.
func TestKill9(t *testing.T) {
	t.Parallel()
	runs := 20
	if testing.Short() {
		runs = 3
	}
	unfinished := 0
	for run := range runs {
		dir := tempDir(t)
		fsys, err := fsutil.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		plant(t, fsys, "d/x=d", "e/x=e")
		if err := rewrite(fsys, "generation 0"); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		word := make([]byte, 6)
		if _, err := out.Read(word); err != nil || string(word) != "ready\n" {
			t.Fatalf("%q, %v", word, err)
		}
		time.Sleep(time.Duration(run) * 1300 * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		r, err := commit.Recover(bg, options(fsys))
		if err != nil {
			t.Fatal(err)
		}
		unfinished += len(r.Leftovers)
		checkVictim(t, fsys, dir)
		fsys.Close()
	}
	t.Logf("%d of %d were caught in the act", unfinished, runs)
}

func checkVictim(t *testing.T, fsys afero.Fs, dir string) {
	t.Helper()
	first, err := afero.ReadFile(fsys, "f0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range victims {
		if data, _ := afero.ReadFile(fsys, fmt.Sprintf("f%d", i)); string(data) != string(first) {
			t.Errorf("f%d is %q, f0 %q", i, data, first)
		}
	}
	var generation int
	if _, err := fmt.Sscanf(string(first), "generation %d", &generation); err != nil {
		t.Error(err)
	}
	want := []string{"d/x" + "d", "e/x" + "e"}
	if generation%2 == 1 {
		want[0], want[1] = want[1], want[0]
	}
	for i, name := range []string{"d/x", "e/x"} {
		if data, _ := afero.ReadFile(fsys, name); string(data) != want[i] {
			t.Errorf("generation %d: %s is %q, want %q", generation, name, data, want[i])
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != victims+2 {
		t.Errorf("litter: %v, %v", names, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, stateDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("state directory is left: %v", err)
	}
}

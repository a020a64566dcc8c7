package commit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
)

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

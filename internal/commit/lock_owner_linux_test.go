package commit_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
)

// said returns the content of a lock of this process, so that a test can change it.
func said(t *testing.T) map[string]any {
	t.Helper()
	fsys := hiding(rootFs(t))
	l, err := commit.Lock(bg, options(fsys))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	data, err := afero.ReadFile(fsys, ownerFile(t, fsys))
	owner := make(map[string]any)
	if err == nil {
		err = json.Unmarshal(data, &owner)
	}
	if err != nil || owner["boot"] == nil || owner["space"] == nil || owner["started"] == nil || owner["process"] == nil {
		t.Fatalf("%s, %v", data, err)
	}
	return owner
}

// TestLock_process distinguishes a process from another with the same number, and from one on another machine.
func TestLock_process(t *testing.T) {
	t.Parallel()
	zombie := exec.Command(os.Args[0], "-test.run=^$")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zombie.Wait() }()
	stat := func() string {
		data, _ := os.ReadFile("/proc/" + strconv.Itoa(zombie.Process.Pid) + "/stat")
		return string(data)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(stat(), ") Z "); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(stat())
		}
	}
	parent := os.Getppid()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/stat")
	if err != nil {
		t.Skip(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	started := fields[19]
	tests := []struct {
		name   string
		change map[string]any
		taken  bool
	}{
		{"this process", nil, false},
		{"an earlier process with the same number", map[string]any{"process": "another"}, true},
		{"the same number in another container", map[string]any{"process": "another", "space": "pid:[1]"}, false},
		{"this machine under another name", map[string]any{"process": "another", "host": "another"}, true},
		{"a living process of this machine", map[string]any{"pid": parent, "started": started}, false},
		{"a reused number", map[string]any{"pid": parent, "started": "1"}, true},
		{"a zombie process", map[string]any{"pid": zombie.Process.Pid, "started": ""}, true},
		{"a process from before the boot", map[string]any{"boot": "another"}, true},
		{"a process of another machine", map[string]any{"boot": "another", "host": "another"}, false},
		{"no number", map[string]any{"pid": 0}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			owner := said(t)
			for key, value := range tt.change {
				owner[key] = value
			}
			data, err := json.Marshal(owner)
			if err != nil {
				t.Fatal(err)
			}
			for kind, fsys := range kinds(t, fstest.TempDir(t)) {
				if err := plantLock(fsys, string(data)); err != nil {
					t.Fatal(err)
				}
				// A free lock of the system is better evidence, but this owner has not recorded such a lock.
				wait, want := 10*time.Second, error(nil)
				fromElsewhere := kind == "root" && tt.change["boot"] != nil
				if !tt.taken && !fromElsewhere {
					wait, want = 30*time.Millisecond, capability.ErrLocked
				}
				if err := tryLock(t, fsys, wait); !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", kind, err, want)
				}
			}
		})
	}
}

// TestLock_holderNamed names an unrelated process that holds the lock.
func TestLock_holderNamed(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	program, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("flock(1) is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, "--shared", dir, "sh", "-c", "echo locked; cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(in.Close(), cmd.Wait()) }()
	if _, err := out.Read(make([]byte, len("locked\n"))); err != nil {
		t.Fatal(err)
	}
	for kind, fsys := range kinds(t, dir) {
		err := tryLock(t, fsys, 30*time.Millisecond)
		if kind == "hiding" {
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if !errors.Is(err, capability.ErrLocked) || !strings.Contains(err.Error(), `process `+strconv.Itoa(cmd.Process.Pid)+` ("flock"), by a shared flock`) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

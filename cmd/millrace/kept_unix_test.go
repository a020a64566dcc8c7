//go:build unix

package main_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// If the process of a kept run is killed or stopped at any phase, runs lists the run, and resume makes the same tree.
func TestKeptRunsGoOn(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]os.Signal{
		"KILL": {syscall.SIGKILL}, "INT": {os.Interrupt}, "TERM": {syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := manyFiles(t, 80)
			for i, phase := range phasesOf {
				if name != "KILL" && i%4 != 0 && os.Getenv("MILLRACE_SAMPLES") != "full" {
					continue
				}
				status, talk := tr.signalled(phase, signals, "run", "swap.json", "--keep", "-y")
				switch {
				case status == -1 && name == "KILL", status == 130, status == 0:
				default:
					t.Errorf("%s: exit status %d\n%s", phase, status, talk)
				}
				if status == 130 && !strings.Contains(talk, "millrace runs resume") {
					t.Errorf("%s: the message does not name the next command:\n%s", phase, talk)
				}
				_, list, _ := tr.run("runs")
				first, _, _ := strings.Cut(list, "\n")
				switch known := strings.Contains(first, "success"); {
				case !known && !strings.Contains(first, "its process died") && !strings.Contains(first, "failed"):
					t.Errorf("%s: the run is listed as\n%s", phase, list)
				case !known:
					tr.must("runs", "resume", "last", "-y")
				}
				if !tr.whole() {
					t.Errorf("%s: the tree is unchanged after exit status %d\n%s%s", phase, status, list, talk)
				}
				if n := strings.Count(tr.undoable(), "swap"); n != 1 {
					t.Errorf("%s: %d commits were made", phase, n)
				}
				tr.reset()
				tr.must("log", "prune", "--keep", "1", "-y")
			}
		})
	}
}

// undoable lists the commits that were not undone, without restores.
func (tr *tree) undoable() string {
	tr.t.Helper()
	_, out, _ := tr.run("log")
	var stand []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "undone") && !strings.Contains(line, "restore") {
			stand = append(stand, line)
		}
	}
	return strings.Join(stand, "")
}

// runs cancel cancels a run of another process, and that process reports it.
func TestCancelOfAnotherProcess(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 3)
	tr.write("slow.json", `{"name": "slow", "steps": [{"id": "s", "action": "exec", "params": {"command": "sleep", "args": ["100"], "discard": true}}]}`)
	cmd := tr.command("run", "slow.json", "--keep", "-y", "--allow-exec", "sleep *", "--sandbox", "off")
	var talk strings.Builder
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if status, out, _ := tr.run("runs", "--status", "running"); status != 0 || out != "" {
			break
		}
	}
	if status, out, talk := tr.run("runs", "cancel", "last"); status != 0 || !strings.Contains(talk, "is canceled") {
		t.Errorf("cancel: exit status %d\n%s%s", status, out, talk)
	}
	if status := tr.status(cmd.Wait()); status != 1 || !strings.Contains(talk.String(), "is canceled") {
		t.Errorf("the canceled process: exit status %d\n%s", status, talk.String())
	}
}

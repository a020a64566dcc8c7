//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// tries returns the number of moments that a test tries.
func tries() int {
	if testing.Short() {
		return 4
	}
	return 40
}

// interrupted fails the test unless a program that got SIGINT ended as done or as interrupted.
func (tr *tree) interrupted(status int, talk string) {
	tr.t.Helper()
	// -1: the signal came before the program handled signals.
	if status != 0 && status != 130 && status != -1 {
		tr.t.Errorf("exit status %d after SIGINT\n%s", status, talk)
	}
}

// An interrupt in any phase leaves the tree old or new. The events of the program name the phase.
func TestInterrupt_phases(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 80)
	var phases []string
	tr.eventOf(func(n int, line string) bool { phases = append(phases, line); return false })
	tr.reset()
	if len(phases) < 8 {
		t.Fatalf("fewer than 8 phases: %q", phases)
	}
	stopped, done := 0, 0
	every := 1
	if testing.Short() {
		every = 3
	}
	for at := 0; at < len(phases); at += every {
		status, talk := tr.eventOf(func(n int, _ string) bool { return n == at })
		tr.interrupted(status, talk)
		isChanged := tr.whole()
		if isChanged != (status == 0) {
			t.Errorf("at %s: exit status %d, and the tree is changed: %v\n%s", phases[at], status, isChanged, talk)
		}
		if isChanged {
			done++
		} else {
			stopped++
		}
		tr.clean()
		tr.reset()
	}
	t.Logf("%d events, %d stopped, %d done", len(phases), stopped, done)
	if stopped == 0 {
		t.Error("nothing was stopped")
	}
}

// eventOf runs swap.json and interrupts it at each commit phase for which hit returns true; n counts the phases from 0.
// The events are read line by line, so the program cannot run far ahead.
func (tr *tree) eventOf(hit func(n int, line string) bool) (status int, talk string) {
	tr.t.Helper()
	cmd := tr.command("run", "swap.json", "--events", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tr.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tr.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var e struct{ Event, Phase string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Event != "commit_phase" {
			continue
		}
		if hit(n, e.Phase) {
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		}
		n++
	}
	return tr.status(cmd.Wait()), stderr.String()
}

// An interrupt at a random moment, without events, leaves the tree old or new.
func TestInterrupt_anyMoment(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 80)
	begin := time.Now()
	tr.must("run", "swap.json")
	took := time.Since(begin)
	tr.reset()
	for range tries() {
		after := time.Duration(rand.Int64N(int64(took)))
		status, talk := tr.interruptedAfter(after)
		tr.interrupted(status, talk)
		if isChanged := tr.whole(); isChanged != (status == 0) {
			t.Errorf("after %v: exit status %d, and the tree is changed: %v\n%s", after, status, isChanged, talk)
		}
		tr.clean()
		tr.reset()
	}
}

// interruptedAfter runs swap.json and interrupts it after each pause.
func (tr *tree) interruptedAfter(pauses ...time.Duration) (status int, talk string) {
	tr.t.Helper()
	cmd := tr.command("run", "swap.json")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Start(); err != nil {
		tr.t.Fatal(err)
	}
	for _, pause := range pauses {
		time.Sleep(pause)
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	}
	return tr.status(cmd.Wait()), stderr.String()
}

// The second interrupt ends the program at once, and recover repairs the tree.
func TestInterrupt_twice(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 80)
	begin := time.Now()
	tr.must("run", "swap.json")
	took := time.Since(begin)
	tr.reset()
	left := 0
	for range tries() {
		status, talk := tr.interruptedAfter(time.Duration(rand.Int64N(int64(took))), time.Duration(rand.Int64N(int64(3*time.Millisecond))))
		tr.ended(status, talk)
		if status, _, _ := tr.run("status"); status == 6 {
			left++
		}
		tr.must("recover")
		tr.whole()
		tr.clean()
		tr.reset()
	}
	t.Logf("%d transactions were left", left)
}

// If the program is killed during a commit, status reports the transaction and recover finishes or undoes it.
func TestKilled(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 80)
	left := 0
	for n := range tries() {
		cmd := tr.command("run", "swap.json", "--events", "-")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for seen := 0; lines.Scan(); {
			if bytes.Contains(lines.Bytes(), []byte(`"commit_phase"`)) {
				if seen == n {
					_ = cmd.Process.Kill() // it may have ended
				}
				seen++
			}
		}
		_ = cmd.Wait() // it was killed
		status, shown, _ := tr.run("status")
		if status == 6 {
			left++
			if !bytes.Contains([]byte(shown), []byte("millrace recover")) {
				t.Errorf("status does not name the next command:\n%s", shown)
			}
			if status, _, _ := tr.run("recover", "-n"); status != 0 {
				t.Errorf("recover -n: exit status %d", status)
			}
			if status, _, _ := tr.run("status"); status != 6 {
				t.Errorf("recover -n changed the transaction")
			}
		}
		tr.must("recover")
		tr.whole()
		tr.clean()
		tr.reset()
	}
	if left == 0 {
		t.Error("no transaction was left")
	}
}

// The second interrupt ends the program even if stderr is a full pipe.
func TestInterrupt_fullStderr(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{"a.txt": "one\n"})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fill(t, w)
	in, silent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cmd := tr.command("run", "-") // it waits for its input
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, io.Discard, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	w.Close()
	// A program that has read more than a pipe holds also handles interrupts.
	if _, err := silent.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	tr.interruptUntilEnd(cmd)
}

// interruptUntilEnd repeats an interrupt until the program ends, because the system may merge two quick interrupts.
func (tr *tree) interruptUntilEnd(cmd *exec.Cmd) {
	tr.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 200 {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			tr.interrupted(tr.status(err), "")
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	tr.t.Error("the program did not end after 200 interrupts")
}

// fill writes to a pipe until the pipe is full.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Write(func(fd uintptr) bool {
		block := make([]byte, 1<<12)
		for {
			if _, err := syscall.Write(int(fd), block); err != nil {
				return true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The memory of a child is its own, however much this process has. That is not so without a process between them.
func TestMeasureMemory(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	if b.tools["sh"].missing != "" {
		t.Skip(b.tools["sh"].missing)
	}
	ballast := make([]byte, 300<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	u, err := b.run(t.Context(), command{dir: b.dir, out: b.out("x"), args: []string{b.tools["sh"].path, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; pwd"}})
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(ballast)
	if u.RSS == 0 || u.RSS > 150<<20 || u.CPU <= 0 || u.Wall <= 0 {
		t.Errorf("%+v", u)
	}
	said, err := os.ReadFile(b.out("x"))
	if real, err := filepath.EvalSymlinks(b.dir); err != nil || strings.TrimSpace(string(said)) != real {
		t.Errorf("it ran in %q, %v", said, err)
	}
	if err != nil {
		t.Error(err)
	}
}

// A command that fails is an error; a command that finds nothing is not.
func TestMeasureExit(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	sh := b.tools["sh"]
	if sh.missing != "" {
		t.Skip(sh.missing)
	}
	for script, fails := range map[string]bool{"exit 0": false, "exit 1": false, "exit 2": true, "echo oh >&2; exit 1": true} {
		_, err := b.run(t.Context(), command{dir: b.dir, out: b.out(script[:6]), args: []string{sh.path, "-c", script}})
		if (err != nil) != fails {
			t.Errorf("%s: %v", script, err)
		}
	}
	if _, err := b.run(t.Context(), command{dir: b.dir, out: b.out("y"), args: []string{filepath.Join(b.dir, "no-such-program")}}); err == nil {
		t.Error("a program that is not there ran")
	}
}

// Both sides run in turn, each with its preparation before it, and the first rounds do not count.
func TestPairs(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	sh := b.tools["sh"]
	if sh.missing != "" {
		t.Skip(sh.missing)
	}
	b.runs, b.warm = 3, 1
	log := filepath.Join(b.dir, "log")
	note := func(what string) command {
		return command{dir: b.dir, out: b.out("x"), args: []string{sh.path, "-c", "echo " + what + " >> log"}}
	}
	var prepared []int
	left := side{
		prepare: func(_ context.Context, round int) error { prepared = append(prepared, round); return nil },
		command: func(round int) command { return note("left" + strings.Repeat("+", round)) },
	}
	var after []int
	a, c, err := b.pairs(t.Context(), b.even(), left, always(note("right")), func(round int) error { after = append(after, round); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != 3 || len(c) != 3 {
		t.Errorf("%d and %d rounds count, not 3", len(a), len(c))
	}
	if want := []int{0, 1, 2, 3}; !slices.Equal(prepared, want) || !slices.Equal(after, want) {
		t.Errorf("prepared before rounds %v, looked after rounds %v", prepared, after)
	}
	said, err := os.ReadFile(log)
	if want := "left right left+ right left++ right left+++ right"; err != nil || strings.Join(strings.Fields(string(said)), " ") != want {
		t.Errorf("%q, %v", said, err)
	}
	for _, n := range []struct{ runs, warm, even int }{{5, 1, 1}, {4, 1, 2}, {4, 0, 0}, {5, 0, 1}} {
		if got := (&bench{runs: n.runs, warm: n.warm}).even(); got != n.even {
			t.Errorf("%d rounds after %d: %d to make it even", n.runs, n.warm, got)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMain lets the test's binary be what the program's is: the measured processes, and the process that measures them.
// Under the names of rg and millrace it is a stand-in for ripgrep and for the command line.
func TestMain(m *testing.M) {
	var err error
	switch {
	case filepath.Base(os.Args[0]) == "rg":
		err = standIn(os.Args[1:], os.Stdout)
	case filepath.Base(os.Args[0]) == "millrace":
		err = commandLine(os.Args[1:], os.Stdout)
	case len(os.Args) > 1 && slices.Contains([]string{"measure", "job", "small", "exec", "runs", "idle"}, os.Args[1]):
		err = dispatch(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	default:
		// With the race detector every process would wait for a second before it ends.
		if err = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0"); err == nil {
			os.Exit(m.Run())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// tiny is a bench over a generated tree, with ripgrep's stand-in.
func tiny(t *testing.T) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := &bench{self: self, runs: 1, dir: dir, tree: filepath.Join(dir, "tree"), logf: t.Logf, scale: scale{
		growth: []int{10, 30}, growthRuns: 1, factors: []int{1, 2}, largeBytes: 9 << 20, largePlaces: 30,
		literal: needle, folded: "HAYneedle", from: needle, to: thread, manyFrom: "context.Context", manyTo: "other.Context", smallRuns: 3,
		allocFiles: 50, editFiles: 20, execFiles: []int{10, 30}, patchFiles: 6, listRuns: 70, durableRuns: 3, resumeFiles: 20, fleetTrees: 10, doorFiles: 12, doorStarts: 2,
	}}
	if err := generateTree(b.tree, 40, 2_000, 3, false, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.work(""), 0o755); err != nil {
		t.Fatal(err)
	}
	if b.base, err = digest(b.tree); err != nil {
		t.Fatal(err)
	}
	rg, program := filepath.Join(dir, "rg"), filepath.Join(dir, "millrace")
	for _, name := range []string{rg, program} {
		if err := os.Symlink(self, name); err != nil {
			t.Skip("a stand-in needs a symbolic link: ", err)
		}
	}
	b.tools = findTools(t.Context(), rg, program)
	b.tools["sync"] = tool{missing: "it would wait for other tests"}
	b.tools["ast-grep"] = tool{missing: "it parses code, and the generated tree has none"}
	return b
}

// script replaces a tool, or with the name self the program, by a shell script, in which $REAL is what it was.
func (b *bench) script(t *testing.T, name, body string) {
	t.Helper()
	if why := b.missing([]string{"sh", "sed"}); why != "" {
		t.Skip("a tool that lies is a shell script with sed in it: ", why)
	}
	was := b.tools[name].path
	if name == "self" {
		was = b.self
	}
	script := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(script, []byte("#!/bin/sh\nREAL="+quote(was)+"\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if name == "self" {
		b.self = script
		return
	}
	b.tools[name] = tool{path: script}
}

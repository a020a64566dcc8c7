package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMain lets the test's binary be what the program's is: the processes that are measured, and the one that measures them.
// Under the name of rg it is a stand-in for ripgrep.
func TestMain(m *testing.M) {
	var err error
	switch {
	case filepath.Base(os.Args[0]) == "rg":
		err = standIn(os.Args[1:], os.Stdout)
	case len(os.Args) > 1 && (os.Args[1] == "measure" || os.Args[1] == "job" || os.Args[1] == "small"):
		err = dispatch(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	default:
		os.Exit(m.Run())
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
	dir := fstest.TempDir(t)
	b := &bench{self: self, runs: 1, dir: dir, tree: filepath.Join(dir, "tree"), logf: t.Logf, scale: scale{
		growth: []int{10, 30}, growthRuns: 1, factors: []int{1, 2}, largeBytes: 9 << 20, largePlaces: 30,
		literal: needle, folded: "HAYneedle", from: needle, to: thread, manyFrom: "context.Context", manyTo: "other.Context", smallRuns: 3,
		allocFiles: 50, editFiles: 20,
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
	rg := filepath.Join(dir, "rg")
	if err := os.Symlink(self, rg); err != nil {
		t.Skip("the stand-in for ripgrep needs a symbolic link: ", err)
	}
	b.tools = findTools(t.Context(), rg)
	b.tools["sync"] = tool{missing: "it would wait for other tests"}
	return b
}

// script replaces a tool by a shell script, in which $REAL is the tool.
func (b *bench) script(t *testing.T, name, body string) {
	t.Helper()
	real := b.tools[name]
	if real.missing != "" {
		t.Skip(real.missing)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("a tool that lies is a shell script: ", err)
	}
	dir := t.TempDir()
	real.path = filepath.Join(dir, name)
	text := "#!/bin/sh\nREAL=" + quote(b.tools[name].path) + "\n" + body + "\n"
	if err := os.WriteFile(real.path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	b.tools[name] = real
}

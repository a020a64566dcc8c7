package rundir_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// BenchmarkDurable measures a run of three steps in a store, and the same run without.
func BenchmarkDurable(b *testing.B) {
	open := func(b *testing.B) (afero.Fs, string) {
		dir := b.TempDir()
		fsys, err := rootfs.Open(dir)
		fstest.Must(b, err)
		b.Cleanup(func() { _ = fsys.Close() })
		fstest.Must(b, afero.WriteFile(fsys, "a.txt", []byte("one\n"), 0o644))
		return fsys, dir
	}
	reset := func(b *testing.B, fsys afero.Fs) {
		fstest.Must(b, afero.WriteFile(fsys, "a.txt", []byte("one\n"), 0o644))
	}
	b.Run("plain", func(b *testing.B) {
		fsys, _ := open(b)
		p := pipeline(b, threeSteps)
		for b.Loop() {
			reset(b, fsys)
			_, err := millrace.Executor{State: millrace.State{Key: key}}.Run(b.Context(), fsys, p)
			fstest.Must(b, err)
		}
	})
	b.Run("durable", func(b *testing.B) {
		fsys, dir := open(b)
		s, err := rundir.Open(fsys, "", rundir.Options{Key: key, SharedDir: filepath.Join(b.TempDir(), "shared")})
		fstest.Must(b, err)
		m := manage(b, s, rundir.Host{Executor: millrace.Executor{State: millrace.State{Key: key}}, Trees: trees{"p": fsys}})
		p := pipeline(b, threeSteps)
		for b.Loop() {
			reset(b, fsys)
			run, err := m.Create(b.Context(), runs.CreateParams{Project: "p", Pipeline: p})
			fstest.Must(b, err)
			wait(b, m, run, runs.Success)
		}
		_ = dir
	})
}

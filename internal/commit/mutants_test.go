//go:build mutants

package commit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is the protocol with something left out, or in the wrong order.
type mutant struct {
	name, file, was, is string // the file is relative to this package
	by                  string // the test that has to notice
}

// mutants leave out each fsync, and swap what has to come one after the other.
func mutants() []mutant {
	const crashes, faults, foreign = "TestCrash", "TestFaults", "TestForeign"
	return []mutant{
		{"no fsync of new files and copied images", "../disk/write.go", "err = u.f.Sync()", "", crashes},
		{"no fsync of the plan", "../disk/disk.go", "if err == nil && durable && d.Sync {", "if false {", crashes},
		{"no fsync of the names of images", "prepare.go", "dirs := t.slotDirs(journal.OldDir)", "var dirs []string", crashes},
		{"no fsync of the places of directories", "prepare.go", "dirs = append(dirs, t.slotDirs(journal.NewDir)...)", "", crashes},
		{"no fsync of the directory of transactions", "prepare.go", "append(dirs, t.state.join(journal.TxDir))", "dirs", crashes},
		{"no fsync of the state directory", "prepare.go", "return t.state.syncUp()", "return nil", crashes},
		{"no fsync of the name of the plan", "prepare.go", "return t.fail(t.dir, t.SyncDir(t.dir))", "return nil", crashes},
		{"no fsync of directories", "apply.go", "t.fail(list[i], t.SyncReached(list[i]))", "nil", crashes},
		{"no fsync of modes and times", "apply.go", "return t.fail(files[i], t.SyncFile(files[i], t.warner(files[i])))", "return nil", crashes},
		{"no fsync of the commit mark", "apply.go", "err = t.SyncDir(t.dir)", "", crashes},
		{"no fsync after undoing", "undo.go", "return t.syncAll(context.Background())", "_ = context.Background; return nil", crashes},
		{"no fsync of the end of undoing", "finish.go", "if err := t.SyncDir(t.dir); err != nil {\n\t\treturn err\n\t}\n\tt.removeRest()", "t.removeRest()", crashes},
		{"no fsync of a commit that was found", "recover.go", "if err := t.reprobe(); err != nil {\n\t\treturn err\n\t}\n\tif err := t.SyncDir", "t.Sync = false\n\tif err := t.reprobe(); err != nil {\n\t\treturn err\n\t}\n\tif err := t.SyncDir", crashes},
		{"no fsync of a transaction without a plan", "recover.go", "if err := t.SyncAnyDir(t.dir); err != nil {", "if err := error(nil); err != nil {", "TestCrash_withoutPlan"},
		{"directory of backups made at the end", "prepare.go", "t.state.ensure(t.lasting()...)", "t.state.ensure(journal.TxDir)", crashes},
		{"no fsync of the result", "finish.go", "return t.SyncDir(t.state.join(journal.ResultsDir))", "return nil", crashes},
		{"no fsync of what was removed on other mounts", "finish.go", "errs = append(errs, t.SyncReached(dir))", "_ = dir", faults},

		{"apply before the plan", "commit.go", "return t.writePlan()", "if err := t.apply(ctx); err != nil {\n\t\treturn err\n\t}\n\treturn t.writePlan()", crashes},
		{"commit before apply", "commit.go", "if err := t.apply(ctx); err != nil {", "if err := t.finishCommit(); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif err := t.apply(ctx); err != nil {", crashes},
		{"commit before the fsync", "commit.go", "t.phase(\"sync\")\n", "t.phase(\"sync\")\n\t\tif err := t.finishCommit(); err != nil {\n\t\t\treturn err\n\t\t}\n", crashes},
		{"plan without a temporary name", "prepare.go", "temp := path.Join(t.dir, journal.PlanTemp)", "temp := path.Join(t.dir, journal.PlanFile)", crashes},
		{"commit mark removed first", "finish.go", "if n == journal.DoneFile {\n\t\t\tcontinue\n\t\t}\n", "if n == journal.DoneFile {\n\t\t\tif err := t.FS.Rename(path.Join(t.dir, n), path.Join(t.dir, journal.PlanFile)); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n\t\t\tcontinue\n\t\t}\n", crashes},
		{"undone and forgotten before the fsync", "undo.go", "if err := panics.Protect(func() error { return t.syncAll(context.Background()) }); err != nil {", "if err := u.forget(); err != nil {\n\t\treturn err\n\t}\n\tif err := panics.Protect(func() error { return t.syncAll(context.Background()) }); err != nil {", crashes},

		{"no look at what an exchange brought out", "apply_paths.go", "err := t.expect(slot, e.Path, e.Old)", "var err error", foreign},
		{"no look at what was taken out", "apply_paths.go", "err := t.expect(out, e.Path, e.Old)", "var err error", foreign},
		{"placed over what is there", "apply_paths.go", "err = t.RenameNoReplace(from, to)", "err = t.FS.Rename(from, to)", foreign},
		{"no look for what was brought out before a kill", "undo.go", "{t.entries, u.returnForeign},", "", foreign},
		{"no look at what undoing brings out", "undo_paths.go", "is, err := u.isNew(e, from, s)", "_, is := s, true", foreign},

		{"no look whether something shows through", "apply_paths.go", "if shows, err := t.showsThrough(e); err != nil || shows {", "if shows, err := false, error(nil); err != nil || shows {", "TestLayers_removed"},
		{"no look at permissions of what came out", "apply_paths.go", "err = expectMeta(path, s, want)", "", "TestForeignAttributes_exchange"},
		{"no look at the change time right before", "unchanged.go", "if e.seen == 0 || now.ID.CTime == e.seen {", "if true {", "TestForeignAttributes"},
		{"no look at permissions where they are set", "unchanged.go", "if err := expectMeta(e.Path, now, was); err != nil || !e.Attr {", "if true {\n\t\treturn nil\n\t}\n\tif err := expectMeta(e.Path, now, was); err != nil || !e.Attr {", "TestForeignAttributes"},
		{"files not read again before they are replaced", "verify.go", "&& !t.opts.ReadSince.IsZero() && !isRacy(old.ModTime, t.opts.ReadSince) {", "{", "TestApply_readSince"},
		{"a removed transaction asks for a recovery", "commit.go", "if disk.IsAbsent(err) && t.lostPlan() {", "if false {", "TestLost"},
		{"a removed transaction is undone all the same", "undo.go", "moves: t.moves()}\n\tif t.isLost() {\n", "moves: t.moves()}\n\tif false {\n", "TestLost"},
	}
}

// TestMutants builds the tests of this package over each mutant, and runs the one that has to fail. It is not run
// with the others: go test -tags mutants -run Mutants ./internal/commit
func TestMutants(t *testing.T) {
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.was); n != 1 {
				t.Fatalf("%s has what is to be changed %d times: %q", m.file, n, m.was)
			}
			out, err := runOver(t, m, strings.Replace(string(source), m.was, m.is, 1))
			switch {
			case err == nil:
				t.Errorf("%s: nobody has noticed:\n%s", m.name, out)
			case !strings.Contains(out, "--- FAIL: "+m.by):
				t.Errorf("%s: %s has not failed, but %v:\n%s", m.name, m.by, err, out)
			}
		})
	}
}

// runOver runs the test with one file of the package replaced.
func runOver(t *testing.T, m mutant, source string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	changed, binary, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "test"), filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{changed: []byte(source), overlay: list} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%s: build: %v\n%s", m.name, err, out)
	}
	out, err := exec.Command(binary, "-test.run", "^"+m.by+"$").CombinedOutput()
	return string(out[:min(len(out), 2000)]), err
}

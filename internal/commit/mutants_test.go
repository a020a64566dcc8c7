//go:build mutants

package commit_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// mutants remove each fsync, and swap operations whose order matters.
func mutants() []fstest.Mutant {
	const crashes, faults, foreign = "TestCrash", "TestFaults", "TestForeign"
	return []fstest.Mutant{
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
		{"no fsync of removals on other mounts", "finish.go", "errs = append(errs, t.SyncReached(dir))", "_ = dir", faults},

		{"apply before the plan", "commit.go", "return t.writePlan()", "if err := t.apply(ctx); err != nil {\n\t\treturn err\n\t}\n\treturn t.writePlan()", crashes},
		{"commit before apply", "commit.go", "if err := t.apply(ctx); err != nil {", "if err := t.finishCommit(); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif err := t.apply(ctx); err != nil {", crashes},
		{"commit before the fsync", "commit.go", "t.phase(\"sync\")\n", "t.phase(\"sync\")\n\t\tif err := t.finishCommit(); err != nil {\n\t\t\treturn err\n\t\t}\n", crashes},
		{"plan without a temporary name", "prepare.go", "temp := path.Join(t.dir, journal.PlanTemp)", "temp := path.Join(t.dir, journal.PlanFile)", crashes},
		{"commit mark removed first", "finish.go", "if n == journal.DoneFile {\n\t\t\tcontinue\n\t\t}\n", "if n == journal.DoneFile {\n\t\t\tif err := t.FS.Rename(path.Join(t.dir, n), path.Join(t.dir, journal.PlanFile)); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n\t\t\tcontinue\n\t\t}\n", crashes},
		{"undone and forgotten before the fsync", "undo.go", "if err := panics.Protect(func() error { return t.syncAll(context.Background()) }); err != nil {", "if err := u.forget(); err != nil {\n\t\treturn err\n\t}\n\tif err := panics.Protect(func() error { return t.syncAll(context.Background()) }); err != nil {", crashes},

		{"no check of a file that an exchange moved out", "place.go", "err = t.expect(slot, e.Path, e.Old)", "", foreign},
		{"no check of a file that was moved out", "apply_paths.go", "err := t.expect(out, e.Path, e.Old)", "var err error", foreign},
		{"placed over an existing entry", "place.go", "err := t.RenameNoReplace(from, to)", "err := t.FS.Rename(from, to)", foreign},
		{"no search for files moved out before a kill", "undo.go", "{t.entries, u.returnForeign},", "", foreign},
		{"no check of files that undoing moves out", "undo_paths.go", "is, err := u.isNew(e, from, s)", "_, is := s, true", foreign},

		{"no check for an entry of the lower layer", "apply_paths.go", "if shows, err := t.showsThrough(e); err != nil || shows {", "if shows, err := false, error(nil); err != nil || shows {", "TestLayers_removed"},
		{"no check of the permissions of a file moved out", "apply_paths.go", "err = expectMeta(path, s, want)", "", "TestForeignAttributes_exchange"},
		{"no check of the change time right before", "unchanged.go", "if e.seen == 0 || now.ID.CTime == e.seen {", "if true {", "TestForeignAttributes"},
		{"no check of permissions when they are set", "unchanged.go", "if err := expectMeta(e.Path, now, was); err != nil || !e.Attr {", "if true {\n\t\treturn nil\n\t}\n\tif err := expectMeta(e.Path, now, was); err != nil || !e.Attr {", "TestForeignAttributes"},
		{"files not read again before they are replaced", "verify.go", "&& !t.opts.ReadSince.IsZero() &&\n\t\t!isRacy(old.ModTime, t.opts.ReadSince) {", "{", "TestApply_readSince"},
		{"no other way if a mount refuses an operation", "place.go", "err == nil || !disk.IsUnsupported(err) {\n\t\t\treturn err == nil, err", "true {\n\t\t\treturn err == nil, err", "TestLacking_random"},
		{"no other way if a mount refuses an exchange", "place.go", "if err != nil && !disk.IsAbsent(err) && disk.IsUnsupported(err) {", "if false {", "TestLacking"},
		{"change times trusted that are updated late", "../disk/probe.go", "return one.ID.CTime != two.ID.CTime || one.ID.Nlink != two.ID.Nlink", "return false", "TestLacking"},
		{"a removed transaction asks for a recovery", "commit.go", "if disk.IsAbsent(err) && t.lostPlan() {", "if false {", "TestLost"},
		{"a removed transaction is undone", "undo.go", "moves: t.moves()}\n\tif t.isLost() {\n", "moves: t.moves()}\n\tif false {\n", "TestLost"},
	}
}

// TestMutants is not run with the other tests: go test -tags mutants -run Mutants ./internal/commit
func TestMutants(t *testing.T) { fstest.Mutants(t, mutants()) }

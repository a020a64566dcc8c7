package hostile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/fstest"
)

// bury makes nested directories below dir, deeper than the longest path, with a file in the last directory.
func bury(t *testing.T, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	at, err := os.OpenRoot(dir)
	must(t, err)
	for range 60 {
		name := strings.Repeat("deep", 25)
		must(t, at.Mkdir(name, 0o755))
		below, err := at.OpenRoot(name)
		must(t, err, at.Close())
		at = below
	}
	must(t, at.WriteFile("file", nil, 0o600), at.Close())
}

// TestHostile_a_planted_transaction_without_a_plan_blocks_no_run plants transactions that cannot have changed the
// tree. Some are deeper than the longest path.
func TestHostile_a_planted_transaction_without_a_plan_blocks_no_run(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	tx := filepath.Join(dir, stateName, "tx")
	bury(t, filepath.Join(tx, "20200101_000000_0123456789abcdef"))
	bury(t, filepath.Join(tx, "no id"))
	plantDir(t, dir, "kept=kept", stateName+"/tx/20200101_000000_0123456789abcde0/old/00/00 -> ../../../../../kept")
	_, err := host().Run(t.Context(), openDir(t, dir), altering(put("other", "x")))
	must(t, err)
	if left, err := os.ReadDir(tx); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(data) != "kept" {
		t.Errorf("the target of a link is %q, %v", data, err)
	}
}

// TestHostile_a_planted_backup_too_deep_for_a_path_is_pruned plants two backups among real backups: the first cannot
// be removed by its path, the second is a link. Pruning continues, and the link's target is not touched.
func TestHostile_a_planted_backup_too_deep_for_a_path_is_pruned(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	backups := filepath.Join(dir, stateName, "backups")
	bury(t, filepath.Join(backups, "20990101_000000_0123456789abcdef"))
	plantDir(t, dir, "elsewhere/done=not ours", stateName+"/backups/20990101_000000_0123456789abcdef/done=x",
		stateName+"/backups/20990101_000001_0123456789abcdef -> ../../elsewhere")
	x := host()
	x.State.Backups = backup.Retention{Keep: 2}
	for i := range 3 {
		res, err := x.Run(t.Context(), openDir(t, dir), altering(put("f", strings.Repeat("x", i))))
		must(t, err)
		if len(res.Warnings) > 0 {
			t.Errorf("warnings %q", res.Warnings)
		}
	}
	list, err := x.ListBackups(t.Context(), openDir(t, dir))
	must(t, err)
	for _, info := range list {
		if info.Err != nil {
			t.Errorf("kept is %+v", info)
		}
	}
	if left, err := os.ReadDir(backups); err != nil || len(list) != 2 || len(left) != 2 {
		t.Errorf("%d usable backups, left are %v, %v", len(list), left, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "elsewhere/done")); err != nil || string(data) != "not ours" {
		t.Errorf("the link was followed: %q, %v", data, err)
	}
}

// TestHostile_a_planted_gitignore_brings_no_backup_to_light plants every kind of .gitignore that would make git list
// the state directory, and runs git.
func TestHostile_a_planted_gitignore_brings_no_backup_to_light(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	for what, spec := range map[string]string{
		"everything":       stateName + "/.gitignore=!*\n",
		"of the same size": stateName + "/.gitignore=!\n",
		"empty":            stateName + "/.gitignore=",
		"link":             stateName + "/.gitignore -> ../nothing",
		"directory":        stateName + "/.gitignore/x=x",
		"deeper":           stateName + "/backups/.gitignore=!*\n",
		"none":             "f=old",
	} {
		dir := fstest.TempDir(t)
		plantDir(t, dir, spec, "f=old", "nothing=")
		must(t, exec.CommandContext(t.Context(), git, "-C", dir, "init", "-q").Run())
		_, err := host().Run(t.Context(), openDir(t, dir), altering(put("f", "new")))
		must(t, err)
		out, err := exec.CommandContext(t.Context(), git, "-C", dir, "status", "--porcelain", "-uall").Output()
		if err != nil || strings.Contains(string(out), stateName) || !strings.Contains(string(out), "f\n") {
			t.Errorf("%s: git sees\n%s%v", what, out, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "nothing")); err != nil || len(data) > 0 {
			t.Errorf("%s: the link was followed: %q, %v", what, data, err)
		}
	}
}

// TestHostile_a_planted_conflicts_link_is_not_followed plants a link in place of the directory for conflicts, and
// inspects the tree.
func TestHostile_a_planted_conflicts_link_is_not_followed(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	plantDir(t, dir, "elsewhere/20200101_000000_0123456789abcdef/plan=x", stateName+"/conflicts -> ../elsewhere")
	found, err := host().Inspect(t.Context(), openDir(t, dir))
	if err != nil || !found.Clean() {
		t.Errorf("%+v, %v", found, err)
	}
	_, err = host().Run(t.Context(), openDir(t, dir), altering(put("f", "new")))
	must(t, err)
	if names, err := os.ReadDir(filepath.Join(dir, "elsewhere")); err != nil || len(names) != 1 {
		t.Errorf("the target of the link has %v, %v", names, err)
	}
}

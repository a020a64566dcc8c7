package whole_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// snapshot returns the files and links of a tree, each with the attributes that git keeps.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil:
			return err
		case rel == ".millrace":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			files[filepath.ToSlash(rel)] = "link to " + target
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		files[filepath.ToSlash(rel)] = fmt.Sprintf("%v %q", info.Mode()&0o100 != 0, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// names returns the paths at which a result lists a change.
func names(f millrace.FilesChanged) []string {
	all := slices.Concat(f.Created, f.Modified, f.Deleted)
	for _, r := range f.Renamed {
		all = append(all, r.From, r.To)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// kinds returns the changes that a result lists, each as "kind path".
func kinds(f millrace.FilesChanged) (all []string) {
	for _, r := range f.Renamed {
		all = append(all, "renamed "+r.To)
	}
	for _, name := range f.Created {
		all = append(all, "created "+name)
	}
	for _, name := range f.Modified {
		all = append(all, "modified "+name)
	}
	for _, name := range f.Deleted {
		all = append(all, "deleted "+name)
	}
	return all
}

// differing returns the paths at which two snapshots differ.
func differing(before, after map[string]string) []string {
	var all []string
	for name, is := range after {
		if before[name] != is {
			all = append(all, name)
		}
	}
	for name := range before {
		if _, left := after[name]; !left {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// modes returns listed without the paths at which git sees no difference: git keeps only one bit of the mode.
func modes(before, after map[string]string, listed []string) []string {
	return slices.DeleteFunc(listed, func(name string) bool { return before[name] != "" && before[name] == after[name] })
}

func copied(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "tree")
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
	return to
}

// gitApply applies a diff to a tree.
func gitApply(dir, diff string, flags ...string) error {
	if diff == "" {
		return nil
	}
	cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, flags...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_DIR=/nonexistent", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git apply: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// TestPlans draws trees and pipelines, and checks each plan. A dry run leaves no file. The plan lists exactly the files
// that differ afterwards. git applies its diff in both directions. After it is stored and opened, the plan is the same.
func TestPlans(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the diff cannot be checked by applying it")
	}
	seed, scratch, committed := fstest.Seed(t), t.TempDir(), 0
	for i := range fstest.Runs(60, 1500, 30_000) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		dir := filepath.Join(t.TempDir(), "tree")
		fstest.Must(t, os.Mkdir(dir, 0o755))
		d.plant(t, dir)
		did, failed := checkPlan(t, dir, hostOf(scratch), d.pipeline())
		if failed != "" {
			t.Fatalf("run %d: %s\n%s", i, failed, strings.Join(d.log, "\n"))
		}
		if did {
			committed++
		}
	}
	if committed == 0 {
		t.Error("no plan could be committed")
	}
	t.Logf("%d plans were committed", committed)
}

// hostOf returns an executor that lets commands run.
func hostOf(scratch string) millrace.Executor {
	return millrace.Executor{State: millrace.State{NoSync: true}, Commands: command.Policy{Shell: true, Sandbox: command.BestEffort, Scratch: scratch}}
}

// checkPlan reports whether a plan could be committed, and its first defect, "" if it has none.
func checkPlan(t *testing.T, dir string, x millrace.Executor, p millrace.Pipeline) (bool, string) {
	t.Helper()
	root := suite.OpenRoot(t, dir)
	before := snapshot(t, dir)
	plan, err := x.Plan(t.Context(), root, p)
	if plan == nil {
		return false, fmt.Sprint("plan: ", err)
	}
	defer plan.Close()
	if _, err := os.Lstat(filepath.Join(dir, ".millrace")); err == nil || cmp.Diff(before, snapshot(t, dir)) != "" {
		return false, "the dry run has left something"
	}
	if err != nil {
		return false, "" // a step has failed, so nothing is committed
	}
	return true, checkCommit(t, dir, x, plan)
}

// renamedLink matches a diff that renames a symbolic link.
var renamedLink = regexp.MustCompile(`\nrename to [^\n]+\nindex [^\n]+ 120000\n`)

// checkCommit stores a plan, opens it, commits it, and returns the first defect.
func checkCommit(t *testing.T, dir string, x millrace.Executor, plan *millrace.Plan) string {
	t.Helper()
	root, before := suite.OpenRoot(t, dir), snapshot(t, dir)
	var out strings.Builder
	if err := plan.WriteDiff(&out); err != nil {
		return fmt.Sprint("diff: ", err)
	}
	diff := out.String()
	taken, err := x.OpenPlan(t.Context(), root, suite.Stored(t, plan))
	if err != nil {
		return fmt.Sprint("the stored plan is refused: ", err)
	}
	defer taken.Close()
	if d := cmp.Diff(readJSON(t, plan.Result()), readJSON(t, taken.Result())); d != "" {
		return "the stored plan is another one: " + d
	}
	if again := taken.Diff(); again != diff {
		return "the stored plan has another diff: " + cmp.Diff(diff, again)
	}
	files, err := plan.Files()
	if err != nil {
		return fmt.Sprint("files: ", err)
	}
	for _, told := range kinds(plan.Result().FilesChanged) {
		if !slices.ContainsFunc(files, func(f millrace.FileDiff) bool { return string(f.Kind)+" "+f.Path == told }) {
			return "no file of the plan is " + told
		}
	}
	patched := copied(t, dir)
	res, err := taken.Commit(t.Context())
	if err != nil && !suite.Is[*millrace.StepError](err) {
		return fmt.Sprint("commit: ", err)
	}
	after := snapshot(t, dir)
	if d := cmp.Diff(differing(before, after), modes(before, after, names(res.FilesChanged)), equateNil()); d != "" {
		return fmt.Sprintf("files_changed (-tree +listed): %s\n%s", d, suite.JSON(t, res.FilesChanged))
	}
	switch err := gitApply(patched, diff); {
	case err != nil && strings.Contains(err.Error(), "Too many levels of symbolic links"):
		return "" // git looks for a new file below a link to itself that is deleted; TestPlans_own applies the diff
	case err != nil:
		return fmt.Sprintf("%v\n%s", err, diff)
	}
	if d := cmp.Diff(after, snapshot(t, patched)); d != "" {
		return fmt.Sprintf("git makes another tree (-commit +git): %s\n%s", d, diff)
	}
	switch err := gitApply(patched, diff, "--reverse"); {
	case err != nil && renamedLink.MatchString(diff):
		return "" // git does not see that a reversed rename of a link frees its place; TestPlans_own applies it
	case err != nil:
		return fmt.Sprintf("back: %v\n%s", err, diff)
	}
	if d := cmp.Diff(before, snapshot(t, patched)); d != "" {
		return fmt.Sprintf("git makes another tree back: %s\n%s", d, diff)
	}
	return ""
}

// readJSON returns a value after JSON. Bytes that are not UTF-8 are replaced once.
func readJSON(t *testing.T, v any) (read any) {
	t.Helper()
	fstest.Must(t, json.Unmarshal([]byte(suite.JSON(t, v)), &read))
	return read
}

func equateNil() cmp.Option {
	return cmp.Transformer("list", func(list []string) string { return strings.Join(list, "\n") })
}

// TestPlans_own applies the diffs of plans with the action patch, in both directions.
func TestPlans_own(t *testing.T) {
	t.Parallel()
	seed, scratch := fstest.Seed(t), t.TempDir()
	for i := range fstest.Runs(60, 1500, 30_000) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed+1, uint64(i)))}
		dir := filepath.Join(t.TempDir(), "tree")
		fstest.Must(t, os.Mkdir(dir, 0o755))
		d.plant(t, dir)
		if failed := checkOwn(t, dir, hostOf(scratch), d.pipeline()); failed != "" {
			t.Fatalf("run %d: %s\n%s", i, failed, strings.Join(d.log, "\n"))
		}
	}
}

func checkOwn(t *testing.T, dir string, x millrace.Executor, p millrace.Pipeline) string {
	t.Helper()
	plan, err := x.Plan(t.Context(), suite.OpenRoot(t, dir), p)
	if err != nil {
		return fmt.Sprint("plan: ", err)
	}
	defer plan.Close()
	diff := plan.Diff()
	if diff == "" || strings.ContainsRune(diff, '\ufffd') || !isText(diff) {
		return ""
	}
	before, patched := snapshot(t, dir), copied(t, dir)
	if _, err := plan.Commit(t.Context()); err != nil && !suite.Is[*millrace.StepError](err) {
		return fmt.Sprint("commit: ", err)
	}
	after := snapshot(t, dir)
	for _, back := range []bool{false, true} {
		one := suite.One(actions.Patch{Text: diff, Reverse: back}).WithOptions(millrace.Options{Force: true})
		if _, err := x.Run(t.Context(), suite.OpenRoot(t, patched), one); err != nil {
			return fmt.Sprintf("patch, back %v: %v\n%s", back, err, diff)
		}
		want := after
		if back {
			want = before
		}
		if d := cmp.Diff(want, snapshot(t, patched)); d != "" {
			return fmt.Sprintf("patch makes another tree, back %v: %s\n%s", back, d, diff)
		}
	}
	return ""
}

func isText(s string) bool { return strings.ToValidUTF8(s, "") == s }

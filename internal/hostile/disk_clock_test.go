//go:build linux

package hostile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
)

// at calls do with the clock at another time: years after the start of the synctest bubble, 2000.
func at(t *testing.T, years int, do func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Duration(years) * 365 * 24 * time.Hour)
		do(t)
	})
}

// TestHostile_the_clock_jumps_during_commits commits while the clock jumps by decades, and restores in reverse order.
func TestHostile_the_clock_jumps_during_commits(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	plantDir(t, dir, "a=0", "b=0")
	var backups []string
	var trees []map[string]string
	for i, years := range []int{26, 0, 70, 1, 70, 26} {
		trees = append(trees, treeOf(t, dir, contents|times))
		at(t, years, func(t *testing.T) {
			p := altering(put("a", fmt.Sprint(i+1)), move("b", fmt.Sprint("b", i)), put("b", fmt.Sprint(i+1)), put(fmt.Sprint("d", i, "/made"), "new"))
			res, err := host().Run(t.Context(), openDir(t, dir), p)
			must(t, err)
			backups = append(backups, res.BackupID)
		})
	}
	for i := len(backups) - 1; i >= 0; i-- {
		_, err := host().Restore(t.Context(), openDir(t, dir), backups[i])
		must(t, err)
		got := treeOf(t, dir, contents|times)
		delete(got, stateName)
		delete(trees[i], stateName)
		if diff := cmp.Diff(trees[i], got); diff != "" {
			t.Fatalf("restored %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestHostile_crash_before_the_clock_jumps is killed at one time, and recovered at another.
func TestHostile_crash_before_the_clock_jumps(t *testing.T) {
	t.Parallel()
	for _, years := range []int{0, 70} {
		dir := fstest.TempDir(t)
		everything(t, dir)
		old := treeOf(t, dir, exact)
		if r := (diskJob{Dir: dir, Pipeline: "everything", Sigkill: `^rename T/done$`}).start(t); !r.Killed {
			t.Fatalf("it was not killed: %+v", r)
		}
		at(t, years, func(t *testing.T) {
			_, err := host().Recover(t.Context(), openDir(t, dir))
			must(t, err)
		})
		sameTree(t, fmt.Sprint(2000+years), dir, old, exact)
	}
}

// TestHostile_prune_after_the_clock_jumped keeps the newest backup, although its time is the oldest.
func TestHostile_prune_after_the_clock_jumped(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	plantDir(t, dir, "a=0")
	x := millrace.Executor{State: millrace.State{NoSync: true, Backups: backup.Retention{Keep: 1}}}
	_, err := x.Run(t.Context(), openDir(t, dir), altering(put("a", "1")))
	must(t, err)
	at(t, 0, func(t *testing.T) {
		res, err := x.Run(t.Context(), openDir(t, dir), altering(put("a", "2")))
		must(t, err)
		if _, err := x.Restore(t.Context(), openDir(t, dir), res.BackupID); err != nil {
			t.Fatalf("the backup just made is gone: %v", err)
		}
		if got := treeOf(t, dir, contents)["a"]; got != `100644 "1"` {
			t.Errorf("a is %s", got)
		}
	})
}

// TestHostile_time_zones kills in one time zone and continues in others.
func TestHostile_time_zones(t *testing.T) {
	t.Parallel()
	in := func(zone string) func(cmd *exec.Cmd) {
		if _, err := time.LoadLocation(zone); err != nil {
			t.Skipf("no time zones here: %v", err)
		}
		return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "TZ="+zone) }
	}
	east, west := in("Pacific/Kiritimati"), in("Pacific/Niue") // UTC+14, UTC-11
	dir := fstest.TempDir(t)
	everything(t, dir)
	old := treeOf(t, dir, exact)
	if r := (diskJob{Dir: dir, Pipeline: "everything", Sigkill: `^rename T/done$`}).start(t, east); !r.Killed {
		t.Fatalf("it was not killed: %+v", r)
	}
	if r := (diskJob{Dir: dir}).start(t, west); r.Error != "" {
		t.Fatal(r.Error)
	}
	sameTree(t, "recovered", dir, old, exact)
	var ids []string
	for i, zone := range []func(*exec.Cmd){east, west, east} {
		must(t, os.WriteFile(filepath.Join(dir, "edit"), []byte(fmt.Sprint("again ", i)), 0o644))
		begin := time.Now().UTC().Truncate(time.Second)
		r := diskJob{Dir: dir, Pipeline: "edit"}.start(t, zone)
		if r.Error != "" {
			t.Fatal(r.Error)
		}
		made, err := time.Parse("20060102_150405", r.Backup[:len("20060102_150405")])
		if err != nil || made.Before(begin) || made.After(time.Now().UTC()) {
			t.Errorf("backup %s is not of a time between %v and now: %v", r.Backup, begin, err)
		}
		ids = append([]string{r.Backup}, ids...)
	}
	list, err := host().ListBackups(t.Context(), openDir(t, dir))
	must(t, err)
	for i, b := range list {
		if len(list) != len(ids) || b.ID != ids[i] {
			t.Fatalf("listed %+v, made %v", list, ids)
		}
	}
}

// TestHostile_stored_plan_in_another_zone stores a plan whose times are written with another offset.
func TestHostile_stored_plan_in_another_zone(t *testing.T) {
	t.Parallel()
	dir := fstest.TempDir(t)
	plantDir(t, dir, "a=old")
	must(t, os.Chtimes(filepath.Join(dir, "a"), longBefore, longBefore.In(time.FixedZone("east", 14*3600))))
	plan, err := host().Plan(t.Context(), openDir(t, dir), altering(put("a", "new")))
	must(t, err)
	data, err := json.Marshal(plan)
	must(t, err)
	utc, east := longBefore.Format(time.RFC3339Nano), longBefore.In(time.FixedZone("", 14*3600)).Format(time.RFC3339Nano)
	moved := strings.ReplaceAll(string(data), utc, east)
	if moved == string(data) {
		t.Logf("times are not written as text, so there is no offset: %s", data)
	}
	again, err := host().OpenPlan(t.Context(), openDir(t, dir), []byte(moved))
	must(t, err)
	_, err = again.Commit(t.Context())
	must(t, err)
	if got := treeOf(t, dir, contents)["a"]; got != `100644 "new"` {
		t.Errorf("a is %s", got)
	}
}

// TestHostile_other_bytes_with_equal_times has another program write as many other bytes, and reset the time.
func TestHostile_other_bytes_with_equal_times(t *testing.T) {
	t.Parallel()
	eachCommitting(t, func(t *testing.T, b *backend) {
		if b.name == "memory" {
			t.Skip("needs a directory; TestHostile_other_programs_between_plan_and_commit has a tree in memory")
		}
		full := b.path("a.txt")
		foreign := strings.Repeat("!", len(planted["a.txt"]))
		inPlace := func() error { return os.WriteFile(full, []byte(foreign), 0o644) }
		renamed := func() error {
			return errors.Join(os.WriteFile(full+"~", []byte(foreign), 0o644), os.Rename(full+"~", full))
		}
		for how, write := range map[string]func() error{"in place": inPlace, "renamed": renamed} {
			info, err := os.Stat(full)
			must(t, err)
			back := func() { must(t, os.Chtimes(full, info.ModTime(), info.ModTime())) }
			stays := func(what string) {
				t.Helper()
				if data, err := afero.ReadFile(b.fs, "a.txt"); err != nil || string(data) != foreign {
					t.Errorf("%s, %s: a.txt is %q, %v", how, what, data, err)
				}
			}
			plan, err := host().Plan(t.Context(), b.fs, decoded(t, act("edit", obj{"files": []string{"a.txt"}, "old_text": "a", "new_text": "A"})))
			must(t, err, write())
			back()
			_, err = plan.Commit(t.Context())
			wantConflict(t, err, "a.txt")
			stays("committed")

			must(t, os.WriteFile(full, []byte(planted["a.txt"]), 0o644))
			back()
			res, err := host().Run(t.Context(), b.fs, decoded(t, act("edit", obj{"files": []string{"a.txt"}, "old_text": "alpha", "new_text": "ALPHA"})))
			must(t, err)
			if info, err = os.Stat(full); err == nil {
				err = write()
			}
			must(t, err)
			back()
			_, err = host().Restore(t.Context(), b.fs, res.BackupID)
			wantConflict(t, err, "a.txt")
			stays("restored")
			must(t, os.WriteFile(full, []byte(planted["a.txt"]), 0o644))
		}
	})
}

// TestHostile_other_bytes_with_equal_times_after_a_crash has another program do that to a file that an interrupted
// commit wrote.
func TestHostile_other_bytes_with_equal_times_after_a_crash(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"in place", "renamed"} {
		dir := fstest.TempDir(t)
		plantDir(t, dir, "files/a=one", "files/b=two")
		if r := (diskJob{Dir: dir, Pipeline: "edits", Sigkill: `^rename T/done$`}).start(t); !r.Killed {
			t.Fatalf("it was not killed: %+v", r)
		}
		full := filepath.Join(dir, "files/a")
		info, err := os.Stat(full)
		must(t, err)
		foreign, target := "EDITED", full
		if how == "renamed" {
			target = full + "~"
		}
		must(t, os.WriteFile(target, []byte(foreign), 0o644))
		if target != full {
			must(t, os.Rename(target, full))
		}
		must(t, os.Chtimes(full, info.ModTime(), info.ModTime()))
		_, err = host().Recover(t.Context(), openDir(t, dir))
		c, ok := errors.AsType[*commit.RollbackConflict](err)
		if !ok || len(c.Paths) != 1 || c.Paths[0].Path != "files/a" {
			t.Errorf("%s: error %T %v", how, err, err)
		}
		got := treeOf(t, dir, contents)
		if got["files/a"] != `100644 "EDITED"` || got["files/b"] != `100644 "two"` {
			t.Errorf("%s: %v", how, got)
		}
	}
}

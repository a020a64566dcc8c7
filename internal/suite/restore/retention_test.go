package restore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/suite"
)

// namesIn returns the names in a directory, in order; none if there is no directory.
func namesIn(fsys afero.Fs, dir string) []string {
	var names []string
	list, err := afero.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	for _, info := range list {
		names = append(names, info.Name())
	}
	return names
}

// TestRunsArePruned: the newest results are kept, and a result with a time in the future does not displace another.
func TestRunsArePruned(t *testing.T) {
	t.Parallel()
	fsys := suite.Tree("n.txt", "end\n")
	const runs = ".millrace/results/"
	future := time.Now().Add(1000 * time.Hour)
	if err := afero.WriteFile(fsys, runs+"planted.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Chtimes(runs+"planted.json", future, future); err != nil {
		t.Fatal(err)
	}
	x := millrace.Executor{State: millrace.State{Results: backup.Retention{Keep: 3}}}
	for i := range 5 {
		x.RunID = fmt.Sprintf("run%d", i)
		if _, err := x.Run(t.Context(), fsys, suite.Count()); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := fsys.Chtimes(runs+x.RunID+".json", then, then); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"run2.json", "run3.json", "run4.json"}, namesIn(fsys, ".millrace/results")); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		id       string
		replayed bool
	}{{"run4", true}, {"run0", false}} {
		x.RunID = tt.id
		res, err := x.Run(t.Context(), fsys, suite.Count())
		if err != nil || res.Replayed != tt.replayed {
			t.Errorf("%s again: %v, %v", tt.id, res, err)
		}
	}
	x.RunID, x.State.Results = "last", backup.Retention{Keep: -1, MaxAge: time.Hour}
	if _, err := x.Run(t.Context(), fsys, suite.Count()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"last.json", "run0.json"}, namesIn(fsys, ".millrace/results")); diff != "" {
		t.Errorf("left by age (-want +got):\n%s", diff)
	}
}

// TestConflictsArePruned: the newest conflicts are kept, as many as the host wants.
func TestConflictsArePruned(t *testing.T) {
	t.Parallel()
	const conflicts = ".millrace/conflicts"
	id := func(year int) string { return fmt.Sprintf("%04d0101_000000_0123456789abcdef", year) }
	for _, tt := range []struct {
		keep backup.Retention
		want []string
	}{
		{backup.Retention{Keep: 2}, []string{id(2023), id(2024), "mine"}},
		{backup.Retention{Keep: -1, MaxBytes: 250}, []string{id(2023), id(2024), "mine"}},
		{backup.Retention{Keep: -1}, []string{id(2021), id(2022), id(2023), id(2024), id(2999), "mine"}},
		{backup.Retention{}, []string{id(2021), id(2022), id(2023), id(2024), id(2999), "mine"}},
	} {
		fsys := suite.Tree("n.txt", "end\n", conflicts+"/mine", "what the user has put there")
		for _, year := range []int{2021, 2022, 2023, 2024, 2999} { // the last conflict came with the tree
			if err := fsys.MkdirAll(conflicts+"/"+id(year)+"/old/00", 0o700); err != nil {
				t.Fatal(err)
			}
			if err := afero.WriteFile(fsys, conflicts+"/"+id(year)+"/old/00/00", make([]byte, 100), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		x := millrace.Executor{State: millrace.State{Conflicts: tt.keep}}
		res, err := x.Run(t.Context(), fsys, suite.Count())
		if err != nil || len(res.Warnings) > 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		if diff := cmp.Diff(tt.want, namesIn(fsys, conflicts)); diff != "" {
			t.Errorf("%+v: left (-want +got):\n%s", tt.keep, diff)
		}
	}
}

// TestBackupsAreListedAndPruned: the newest backups are kept, as many as the host wants.
func TestBackupsAreListedAndPruned(t *testing.T) {
	fsys := suite.Tree("n.txt", "end\n")
	x := millrace.Executor{State: millrace.State{Backups: backup.Retention{Keep: 2}}}
	var last string
	for range 4 {
		res, err := x.Run(t.Context(), fsys, suite.Count())
		if err != nil {
			t.Fatal(err)
		}
		last = res.BackupID
	}
	list, err := x.ListBackups(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Pipeline != "count" || list[0].Files != 1 || list[0].ID != last && list[1].ID != last {
		t.Errorf("backups %+v, the last one is %s", list, last)
	}
}

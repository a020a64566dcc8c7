package searchways_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// TestBinaryIsOneThing: a file that Files calls binary has a binary patch in the diff, and a search skips it before or
// after the change. git agrees.
func TestBinaryIsOneThing(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(strings.Repeat("x", 49)+"\n", 500)
	inPieces := []int{7999, 8001, 8191}[:fstest.Slowed(1, fstest.ByItself(1, 3))] // a few sizes are enough
	for _, size := range []int{0, 9 << 20} {
		for _, at := range []int{-1, 10, 7990, 7998, 7999, 8000, 8001, 8010, 8180, 8191, 8192, 8193, 12000} {
			for _, longer := range []int{0, 2, -2, 195} {
				if size > 0 && (!slices.Contains(inPieces, at) || longer > 2) {
					continue
				}
				t.Run(fmt.Sprintf("%d of %d, %+d", at, size, longer), func(t *testing.T) {
					t.Parallel()
					before := []byte("needle\n" + filler + strings.Repeat("much more text\n", size/15))
					if at >= 0 {
						before[at] = 0
					}
					checkBinary(t, before, strings.Repeat("+", 6+longer)+"\n")
				})
			}
		}
	}
}

func checkBinary(t *testing.T, before []byte, line string) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "a.txt", before, 0o644); err != nil {
		t.Fatal(err)
	}
	after := append([]byte(line), before[bytes.IndexByte(before, '\n')+1:]...)
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.One(actions.EditFiles{Binary: true, FileEdits: []actions.FileEdits{{
		Path: "a.txt", Edits: []actions.LineEdit{actions.ReplaceLines(1, 1, line)},
	}}}))
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if files[0].Binary == (len(files[0].Hunks) > 0) {
		t.Errorf("binary %t, and %d hunks", files[0].Binary, len(files[0].Hunks))
	}
	diff := strings.Contains(plan.Diff(), "\nGIT binary patch\n")
	if diff != files[0].Binary {
		t.Errorf("Files reports binary %t, the diff %t", files[0].Binary, diff)
	}
	found := searched(t, fsys)
	if _, err := plan.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "a.txt"); got != string(after) {
		t.Fatal("another file was committed than planned")
	}
	if looked := found && searched(t, fsys); looked == diff {
		t.Errorf("the diff reports binary %t, and the search of both texts %t", diff, looked)
	}
	for _, side := range [][]byte{before, after} {
		if b, err := textdiff.IsBinary(textdiff.Bytes(side), textdiff.Bytes(nil)); fsutil.IsBinary(side) != b || err != nil {
			t.Errorf("fsutil reports %t, textdiff %t, %v", !b, b, err)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"before": before, "after": after} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--numstat", "before", "after")
	cmd.Dir = dir
	out, _ := cmd.Output() // git fails if the files differ
	if git := bytes.HasPrefix(out, []byte("-\t-\t")); git != diff {
		t.Errorf("git reports binary %t (%s), the diff %t", git, out, diff)
	}
}

// searched reports whether a search reads a.txt.
func searched(t *testing.T, fsys afero.Fs) bool {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.One(actions.Search{Pattern: "xxx"}))
	if err != nil {
		t.Fatal(err)
	}
	return len(plan.Result().Results[0].FilesMatched) == 1
}

package actions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// gnuSed returns the path of GNU sed, or skips the test.
func gnuSed(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("sed")
	if err != nil {
		t.Skip("sed is not installed")
	}
	if out, err := exec.Command(name, "--version").Output(); err != nil || !strings.Contains(string(out), "GNU sed") {
		t.Skip("sed is not GNU sed")
	}
	return name
}

// sedTree creates a directory with a few text files.
func sedTree(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	dir := fstest.TempDir(t)
	words := []string{"const a = 1", "let b", "x", "", "caf\u00e9", "tab\there", "a\r", "foo foo", "  indented"}
	for _, name := range []string{"a.txt", "b.txt", "d/a.txt", "d/e/c.txt"} {
		var b strings.Builder
		for range rnd.IntN(8) {
			b.WriteString(words[rnd.IntN(len(words))] + "\n")
		}
		text := b.String()
		if rnd.IntN(3) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, name := range []string{"a.txt", "b.txt", "d/a.txt", "d/e/c.txt"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

// TestPatternReplace_likeSed compares the files on the stage with the results of sed -i.
func TestPatternReplace_likeSed(t *testing.T) {
	t.Parallel()
	gnu := gnuSed(t)
	scripts := []string{
		"s/const /let /g", "s/o/0/2", "s/[aeiou]/<&>/gI", "2d", "$d", "$!d", "/let/,$d", "1~2s/^/# /", "s/(foo) (foo)/\\2-\\1/", "y/abc/xyz/",
		"/^$/d", "s/$/;/", "s/\\r$//", "2,3{s/a/b/;p}", "s/.*/\\U&/", "/x/!s/e/E/g;$p", "s/caf./\\n/", "0,/x/s/x/first/", "s/[x[:punct:]]*/-/g", "1p;2,+1d",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for _, script := range scripts {
		for _, quiet := range []bool{false, true} {
			for _, syntax := range []string{"ere", "bre"} {
				args := []string{"-i", "-s"}
				if quiet {
					args = append(args, "-n")
				}
				if syntax == "ere" {
					args = append(args, "-E")
				} else if strings.Contains(script, "(") {
					continue // it has another meaning
				}
				dir := sedTree(t, rnd)
				root, err := fsutil.OpenRoot(dir)
				if err != nil {
					t.Fatal(err)
				}
				stage := fsutil.NewStage(root)
				out, err := actions.PatternReplace{FilePattern: "*.txt", Recursive: true, SedPattern: []string{script},
					Syntax: syntax, Quiet: quiet}.
					Run(t.Context(), &actions.Call{FS: stage})
				if err != nil {
					t.Fatalf("%s: %v", script, err)
				}
				before, got := texts(t, dir), make(map[string]string)
				for name := range before {
					data, err := stage.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					got[name] = string(data)
				}
				if err := errors.Join(stage.Close(), root.Close()); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--", script, "a.txt", "b.txt", "d/a.txt", "d/e/c.txt")
				cmd := exec.Command(gnu, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
				if said, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("sed %q: %v\n%s", args, err, said)
				}
				want := texts(t, dir)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("sed %q of %q (-sed +ours):\n%s", args, before, diff)
				}
				var changed []string
				for _, name := range []string{"a.txt", "b.txt", "d/a.txt", "d/e/c.txt"} {
					if want[name] != before[name] {
						changed = append(changed, name)
					}
				}
				if fmt.Sprint(changed) != fmt.Sprint(out.Files) {
					t.Errorf("%s: said to have changed %v, not %v", script, out.Files, changed)
				}
				compared++
			}
		}
	}
	fstest.Countf(t, "%d runs of sed", compared)
}

// TestPatternReplace_files checks the choice of files.
func TestPatternReplace_files(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dir, glob string
		recursive bool
		exclude   []string
		want      string
	}{
		{"", "*.txt", false, nil, "[a.txt b.txt]"},
		{"", "*.txt", true, nil, "[a.txt b.txt d/a.txt d/e/c.txt]"},
		{"", "**/*.txt", false, nil, "[a.txt b.txt d/a.txt d/e/c.txt]"},
		{"", "d/*.txt", false, nil, "[d/a.txt]"},
		{"d", "*.txt", true, nil, "[d/a.txt d/e/c.txt]"},
		{"d", "e/*.txt", true, nil, "[d/e/c.txt]"},
		{"", "*.txt", true, []string{"d/**"}, "[a.txt b.txt]"},
		{"d", "*.txt", true, []string{"e/**"}, "[d/a.txt]"},
		{"", "a.*", true, []string{"a.txt"}, "[]"},
		{"", "*.md", true, nil, "[]"},
	} {
		t.Run(fmt.Sprint(test.dir, " ", test.glob, " ", test.recursive, test.exclude), func(t *testing.T) {
			t.Parallel()
			root, err := fsutil.OpenRoot(sedTree(t, rand.New(rand.NewPCG(7, 8))))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			stage := fsutil.NewStage(root)
			defer stage.Close()
			out, err := actions.PatternReplace{
				Directory: test.dir, FilePattern: test.glob, Recursive: test.recursive, ExcludePatterns: test.exclude, SedPattern: []string{"$s/$/!/"},
			}.Run(t.Context(), &actions.Call{FS: stage, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range out.Reports {
				names = append(names, r.Path)
				if r.WouldModify == nil || *r.WouldModify != strings.HasPrefix(r.Preview, "--- Original\n+++ Modified\n@@ ") ||
					*r.WouldModify != (*r.Replacements > 0) {
					t.Errorf("report %+v", r)
				}
			}
			if fmt.Sprint(names) != test.want {
				t.Errorf("looked into %v, want %s", names, test.want)
			}
		})
	}
}

// TestPatternReplace_errors checks errors of single files and of limits.
func TestPatternReplace_errors(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, p actions.PatternReplace, limits actions.Limits) (actions.Outcome, *fsutil.Stage, error) {
		t.Helper()
		root, err := fsutil.OpenRoot(sedTree(t, rand.New(rand.NewPCG(7, 8))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		stage := fsutil.NewStage(root)
		t.Cleanup(func() { stage.Close() })
		if err := stage.Remove("b.txt"); err != nil {
			t.Fatal(err)
		}
		file, err := stage.Create("b.txt")
		if err == nil {
			_, err = file.WriteString(strings.Repeat("x", 2000))
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context(), &actions.Call{FS: stage, Limits: limits})
		return out, stage, err
	}
	all := actions.PatternReplace{FilePattern: "*.txt", SedPattern: []string{"s/x/yy/g"}}
	for name, test := range map[string]struct {
		limits actions.Limits
		what   string
	}{
		"file":    {actions.Limits{MaxFileBytes: 1000}, "file bytes"},
		"matches": {actions.Limits{MaxMatches: 100}, "matches"},
		"output":  {actions.Limits{MaxOutputBytes: 1000}, "bytes"},
		"pattern": {actions.Limits{MaxPatternBytes: 4}, "pattern bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stage, err := run(t, all, test.limits)
			limit, ok := errors.AsType[*actions.LimitError](err)
			if !ok || limit.What != test.what {
				t.Fatalf("error %v", err)
			}
			if data, err := stage.ReadFile("b.txt"); err != nil || strings.Contains(string(data), "y") {
				t.Errorf("edited all the same: %v", err)
			}
		})
	}
	t.Run("continue", func(t *testing.T) {
		t.Parallel()
		p := all
		p.OnError, p.SedPattern = "continue", []string{"s/^/x/g"}
		out, _, err := run(t, p, actions.Limits{MaxFileBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Reports) != 2 || !out.Reports[0].Success || out.Reports[1].Success || out.Reports[1].Error == "" ||
			fmt.Sprint(out.Files) != "[a.txt]" || *out.FilesModified != 1 || *out.FilesSkipped != 1 {
			t.Errorf("%+v", out)
		}
	})
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		p := all
		p.Directory = "nowhere"
		if _, _, err := run(t, p, actions.Limits{}); err == nil || err.Error() != "path not found: nowhere" {
			t.Errorf("error %v", err)
		}
		p.Directory = "a.txt"
		if _, _, err := run(t, p, actions.Limits{}); !errors.Is(err, fsutil.ErrNotDir) {
			t.Errorf("error %v", err)
		}
	})
}

// TestPatternReplace_deadline: a script that would need minutes for one line ends with its context. A line with too
// many matches is not searched to its end.
func TestPatternReplace_deadline(t *testing.T) {
	t.Parallel()
	for _, syntax := range []string{"ere", "bre", "re2"} {
		script := "s/a.*b|a/x/g"
		if syntax == "bre" {
			script = `s/a.*b\|a/x/g`
		}
		b := inMemory(t, files{"a.txt": strings.Repeat("a", 400_000)})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		_, err := b.runWith(ctx, "sed", actions.PatternReplace{FilePattern: "*", SedPattern: []string{script}, Syntax: syntax,
			OnError: "continue"}, nil)
		cancel()
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 30*time.Second {
			t.Errorf("%s: %v after %v", syntax, err, took)
		}
	}
}

package actions_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/guard"
)

func TestSearch(t *testing.T) {
	tree := files{
		"a.go": "recieve\nrecieve recieve", "b.js": "console.log(1); consoleXlog", "src/c.GO": "Recieve", "src/deep/d.go": "recieve\r\n",
		"src/deep/e_test.go": "recieve", ".hidden": "recieve", "node_modules/x/f.go": "recieve", "ignored/g.go": "recieve", ".gitignore": "ignored/\n",
		".git/config": "recieve", "bin": "recieve\x00", "empty": "", "call.txt": "f(x) fx",
	}
	for _, test := range []struct {
		name   string
		search actions.Search
		want   map[string]int
		mode   string
	}{
		{"everything", actions.Search{Pattern: "recieve"},
			map[string]int{"a.go": 3, "src/deep/d.go": 1, "src/deep/e_test.go": 1, ".hidden": 1, "node_modules/x/f.go": 1}, "literal"},
		{"no ignore", actions.Search{Pattern: "recieve", NoIgnore: true, FileTypes: []string{"go"}},
			map[string]int{"a.go": 3, "src/deep/d.go": 1, "src/deep/e_test.go": 1, "node_modules/x/f.go": 1, "ignored/g.go": 1}, "literal"},
		{"path", actions.Search{Pattern: "recieve", Path: "./src"}, map[string]int{"src/deep/d.go": 1, "src/deep/e_test.go": 1}, "literal"},
		{"file", actions.Search{Pattern: "recieve", Path: "a.go"}, map[string]int{"a.go": 3}, "literal"},
		{"ignored directory that is named", actions.Search{Pattern: "recieve", Path: "ignored"}, map[string]int{"ignored/g.go": 1}, "literal"},
		{"case", actions.Search{Pattern: "RECIEVE", IgnoreCase: true, Path: "src"}, map[string]int{"src/c.GO": 1, "src/deep/d.go": 1, "src/deep/e_test.go": 1}, "literal"},
		{"types", actions.Search{Pattern: "(?i)recieve", FileTypes: []string{".go"}, Path: "src"}, map[string]int{"src/c.GO": 1, "src/deep/d.go": 1, "src/deep/e_test.go": 1}, "regex"},
		{"long types", actions.Search{Pattern: "recieve", FileTypes: []string{"_test.go", "*.js"}}, nil, "literal"},
		{"include by name", actions.Search{Pattern: "recieve", Include: []string{"*_test.go"}}, map[string]int{"src/deep/e_test.go": 1}, "literal"},
		{"include by path", actions.Search{Pattern: "recieve", Include: []string{"./src/**/*.go"}}, map[string]int{"src/deep/d.go": 1, "src/deep/e_test.go": 1}, "literal"},
		{"include a directory", actions.Search{Pattern: "recieve", Include: []string{"src/deep/"}}, map[string]int{"src/deep/d.go": 1, "src/deep/e_test.go": 1}, "literal"},
		{"exclude", actions.Search{Pattern: "recieve", Exclude: []string{"node_modules", "src/**", ".*"}}, map[string]int{"a.go": 3}, "literal"},
		{"exclude a directory anywhere", actions.Search{Pattern: "recieve", Exclude: []string{"deep/", "x/"}}, map[string]int{"a.go": 3, ".hidden": 1}, "literal"},
		{"braces", actions.Search{Pattern: "recieve", Include: []string{"{a,d}.go"}}, map[string]int{"a.go": 3, "src/deep/d.go": 1}, "literal"},
		{"auto takes a regex", actions.Search{Pattern: "console.log"}, map[string]int{"b.js": 2}, "regex"},
		{"unless told", actions.Search{Pattern: "console.log", Mode: "literal"}, map[string]int{"b.js": 1}, "literal"},
		{"auto takes a text that is not a regex", actions.Search{Pattern: "log("}, map[string]int{"b.js": 1}, "literal"},
		{"regex", actions.Search{Pattern: `(?m)^recieve$`, Mode: "regex"}, map[string]int{
			"a.go": 1, "src/deep/d.go": 1, "src/deep/e_test.go": 1, ".hidden": 1, "node_modules/x/f.go": 1}, "regex"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, base := range bases {
				t.Run(name, func(t *testing.T) {
					b := newBench(t, base(t), tree)
					out := b.must("s", test.search, nil)
					equal(t, "counts", out.Counts, test.want)
					equal(t, "files", out.Files, slices.Sorted(maps.Keys(test.want)))
					if out.Mode != test.mode || out.Content != nil {
						t.Errorf("mode %q, content %v", out.Mode, out.Content)
					}
				})
			}
		})
	}
}

func TestSearchContentAndStage(t *testing.T) {
	b := inMemory(t, files{"a.txt": "x\xff", "b.txt": "y"})
	out := b.must("s", actions.Search{Pattern: "x", IncludeContent: true}, nil)
	equal(t, "content", out.Content, map[string]string{"a.txt": "x\xff"})
	// Staged files are found, removed files are not.
	if err := afero.WriteFile(b.stage, "new/c.txt", []byte("xx"), 0o644); err == nil {
		t.Error("a file without a directory was written")
	}
	if err := errors.Join(b.stage.MkdirAll("new", 0o755), afero.WriteFile(b.stage, "new/c.txt", []byte("xx"), 0o644),
		b.stage.Remove("a.txt")); err != nil {
		t.Fatal(err)
	}
	out = b.must("s", actions.Search{Pattern: "x"}, nil)
	equal(t, "counts", out.Counts, map[string]int{"new/c.txt": 2})
	b.wantWarning()
}

// TestFilesAreReadOnce: the steps after a search do not read its files again.
func TestFilesAreReadOnce(t *testing.T) {
	opens := make(map[string]int)
	base := errorfs.Wrap(afero.NewMemMapFs(), errorfs.Before(func(op *errorfs.Op) error {
		if op.Kind == "open" && op.Flag == os.O_RDONLY {
			opens[op.Name]++
		}
		return nil
	}))
	b := newBench(t, base, files{"a.txt": "x", "b.txt": "y"})
	b.must("find", actions.Search{Pattern: "x"}, nil)
	b.must("count", actions.CountOccurrences{Pattern: "x"}, nil, "find")
	b.must("edit", actions.Edit{OldText: "x", NewText: "z"}, nil, "find")
	if opens["a.txt"] != 1 || opens["b.txt"] != 1 {
		t.Errorf("opened %v", opens)
	}
}

func TestSearchErrors(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, base(t), files{"a.txt": "x"})
			_, err := b.run("s", actions.Search{Pattern: "x", Path: "./no/where"}, nil)
			wantError(t, err, "path not found: ./no/where")
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v is not fs.ErrNotExist", err)
			}
			_, err = b.run("s", actions.Search{Pattern: "x", Path: "../x"}, nil)
			wantError(t, err, "../x: path escapes from the root of the tree")
			if !errors.Is(err, fsutil.ErrEscape) {
				t.Errorf("%v is no ErrEscape", err)
			}
			_, err = b.run("s", actions.Search{Pattern: "(", Mode: "regex"}, nil)
			if err == nil || !strings.Contains(err.Error(), "missing closing )") {
				t.Errorf("bad pattern: %v", err)
			}
			_, err = b.run("s", actions.Search{}, nil)
			wantError(t, err, "pattern cannot be empty")
			_, err = b.run("s", actions.Search{Pattern: "x", Exclude: []string{"["}}, nil)
			wantError(t, err, "'[' is not a valid glob")
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := b.runWith(ctx, "s", actions.Search{Pattern: "x"}, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
	b := inMemory(t, files{"secret/a.txt": "x", "open/b.txt": "x"})
	b.stage.SetGuard(guard.Policy{Allowed: []string{"open"}})
	_, err := b.run("s", actions.Search{Pattern: "x", Path: "secret"}, nil)
	wantError(t, err, "secret: access denied: path is outside the allowed paths: open")
	out := b.must("s", actions.Search{Pattern: "x"}, nil)
	equal(t, "files", out.Files, []string{"open/b.txt"})
}

// TestSearchNotes checks that a search warns if it read a pattern as a regular expression and the pattern occurs as
// text.
func TestSearchNotes(t *testing.T) {
	for _, test := range []struct {
		search actions.Search
		want   []string
	}{
		{actions.Search{Pattern: "console.log"}, []string{`pattern "console.log" was read as a regular expression, and occurs as plain text in 1 of the files`}},
		{actions.Search{Pattern: "consol[e].log"}, nil},
		{actions.Search{Pattern: "f(x)"}, []string{`it also occurs in 1 files in which it does not match so, such as call.txt`}},
		{actions.Search{Pattern: "f(x)", Mode: "regex"}, nil},
		{actions.Search{Pattern: "x"}, nil},
	} {
		b := inMemory(t, files{"a.js": "console.log", "b.js": "consoleXlog", "call.txt": "f(x)", "call2.txt": "fx"})
		b.must("s", test.search, nil)
		b.wantWarning(test.want...)
	}
}

// TestSearchLargeFiles puts matches at and across the ends of pieces that are read at once, and compares with a count
// over the whole file.
func TestSearchLargeFiles(t *testing.T) {
	const buffer = 128 << 10
	filler := func(n int) string { return strings.Repeat("0123456789abcde\n", n/16+1)[:n] }
	tree := files{
		"at-border": filler(buffer-3) + "needle" + filler(100),
		"at-start":  "needle" + filler(3*buffer),
		"at-end":    filler(3*buffer) + "needle",
		"nowhere":   filler(4 * buffer),
		"exactly":   filler(buffer-6) + "needle",
		"many":      strings.Repeat(filler(1000)+"needle", 2000),
		"huge":      strings.Repeat(filler(237)+"-needle", 36_000) + "needle" + filler(buffer-8) + "needle" + filler(5) + strings.Repeat("a", buffer+1),
		"binary":    "\x00" + filler(2*buffer) + "needle",
		"late-nul":  filler(9000) + "\x00needle",
		"crlf":      strings.ReplaceAll(filler(2*buffer), "\n", "\r\n") + "needle\r\nend",
	}
	for name, base := range bases {
		b := newBench(t, base(t), tree)
		for _, search := range []actions.Search{
			{Pattern: "needle"}, {Pattern: "needle", IncludeContent: true}, {Pattern: "NEEDLE", IgnoreCase: true}, {Pattern: "need.e"},
			{Pattern: "(?m)needle$"}, {Pattern: "needle\nend"}, {Pattern: "aaaa"},
		} {
			out := b.must("s", search, nil)
			count := actions.CountOccurrences{Pattern: search.Pattern, Mode: out.Mode, IgnoreCase: search.IgnoreCase}
			counts := b.must("c", count, slices.Sorted(maps.Keys(tree))).Counts
			counts["binary"] = 0
			for file, content := range tree {
				want := counts[file]
				if got := out.Counts[file]; got != want {
					t.Errorf("%s: %+v in %s: %d, want %d", name, search, file, got, want)
				}
				if search.IncludeContent && want > 0 && out.Content[file] != content {
					t.Errorf("%s: content of %s has %d bytes, want %d", name, file, len(out.Content[file]), len(content))
				}
			}
		}
		out := b.must("s", actions.Search{Pattern: "needle", MaxFileBytes: 3 << 20, Include: []string{"at-*", "huge"}}, nil)
		equal(t, "files", out.Files, []string{"at-border", "at-end", "at-start"})
		b.wantWarning("huge: left out, larger than 3145728 bytes")
	}
}

// TestSearchSameForAllWorkers checks that the number of goroutines has no effect.
func TestSearchSameForAllWorkers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := files{}
		for range rapid.IntRange(0, 30).Draw(rt, "files") {
			name := rapid.StringMatching(`([ab]/){0,2}[a-d]\.(go|js)`).Draw(rt, "name")
			tree[name] = strings.Repeat("x", rapid.IntRange(0, 3).Draw(rt, "count"))
		}
		b := inMemory(t, tree)
		var want map[string]int
		for workers := 1; workers <= 4; workers++ {
			out, err := actions.Search{Pattern: "x", IncludeContent: true}.Run(t.Context(),
				&actions.Call{FS: (*fsutil.Stage)(b.stage.For("s", true)), Workers: workers})
			if err != nil {
				rt.Fatal(err)
			}
			if workers == 1 {
				want = map[string]int{}
				for name, content := range tree {
					if content != "" {
						want[name] = len(content)
					}
				}
			}
			if !maps.Equal(out.Counts, want) || !slices.Equal(out.Files, slices.Sorted(maps.Keys(want))) {
				rt.Fatalf("%d workers: %v, want %v", workers, out.Counts, want)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	tree := files{}
	size := 0
	for i := range 2000 {
		content := strings.Repeat(fmt.Sprintf("line of file %d, with some words in it\n", i), 100)
		if i%100 == 0 {
			content += "recieve\n"
		}
		tree[fmt.Sprintf("d%d/f%d.txt", i%50, i)] = content
		size += len(content)
	}
	base := bases["root"](b)
	write(b, base, tree)
	for _, pattern := range []string{"recieve", `rec\w+ve\b`, "(?i)RECIEVE", `[q-s]ec[h-j]eve`} {
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				stage := fsutil.NewStage(base)
				out, err := actions.Search{Pattern: pattern}.Run(b.Context(), &actions.Call{FS: stage})
				if err != nil || len(out.Files) != 20 {
					b.Fatal(out.Files, err)
				}
				stage.Close()
			}
		})
	}
}

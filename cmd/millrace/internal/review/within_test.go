package review_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/fsutil"
)

// A hunk is split into its matches, even within a line, and the file has exactly the accepted matches.
func TestSplitWithinLines(t *testing.T) {
	for name, c := range map[string]struct{ text, old, fresh, keys, want string }{
		"first of a line":     {"x = foo(foo)\n", "foo", "bar", "s y n", "x = bar(foo)\n"},
		"second of a line":    {"x = foo(foo)\n", "foo", "bar", "s n y", "x = foo(bar)\n"},
		"both":                {"x = foo(foo)\n", "foo", "bar", "s y y", "x = bar(bar)\n"},
		"none":                {"x = foo(foo)\n", "foo", "bar", "s n n", "x = foo(foo)\n"},
		"back again":          {"x = foo(foo)\n", "foo", "bar", "s y b b y", "x = bar(bar)\n"},
		"the rest":            {"foo foo foo\n", "foo", "bar", "s n a", "foo bar bar\n"},
		"lines side by side":  {"foo\nfoo foo\nfoo\n", "foo", "bar", "s n y n y", "foo\nbar foo\nbar\n"},
		"deleted":             {"a,b,c\n", ",", "", "s y n", "ab,c\n"},
		"longer":              {"a b a\n", "a", "aa", "s n y", "a b aa\n"},
		"CRLF":                {"foo foo\r\nend\r\n", "foo", "bar", "s n y", "foo bar\r\nend\r\n"},
		"no line end":         {"top\nfoo foo", "foo", "bar", "s y n", "top\nbar foo"},
		"many bytes":          {"é→é→é\n", "→", "⇒", "s n y", "é→é⇒é\n"},
		"parts, then matches": {"foo foo\nkeep\nfoo foo\n", "foo", "bar", "s s y n s n y", "bar foo\nkeep\nfoo bar\n"},
		"a match has no part": {"foo foo\n", "foo", "bar", "s s s y n", "bar foo\n"},
		"not edited":          {"foo foo\n", "foo", "bar", "s e n y", "foo bar\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.txt")
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			root, err := fsutil.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			p := millrace.New("p").Step("s", actions.Edit{Files: []string{"a.txt"}, OldText: c.old, NewText: c.fresh}).MustBuild()
			all, err := millrace.Executor{}.Plan(t.Context(), root, p)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r := review.New(all)
			r.Edit = func(string) (string, error) { t.Error("an editor was opened"); return "", nil }
			some, err := r.Run(t.Context(), typed(strings.ReplaceAll(c.keys, " ", "\n")+"\n"), &out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, f := range filesOf(t, some) {
				for _, h := range f.Hunks {
					if len(h.By) == 0 || slices.ContainsFunc(h.By, func(o change.Origin) bool { return o.Step != "s" }) {
						t.Errorf("matches of the step s are by %v", h.By)
					}
				}
			}
			if some.Result().FilesChanged.Count() > 0 {
				if _, err := some.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != c.want {
				t.Errorf("the file is %q, not %q (%v)\n%s", got, c.want, err, out.String())
			}
			if !strings.Contains(out.String(), "take this match [y,n,") {
				t.Errorf("no match was asked for:\n%s", out.String())
			}
		})
	}
}

// filesOf returns the diffs of a plan.
func filesOf(t *testing.T, p *millrace.Plan) []millrace.FileDiff {
	t.Helper()
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

package hostile_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/internal/walk"
)

// openings are inputs for the parsers of this module: for each parser, texts that open a construct of its language.
var openings = []struct {
	parser string
	texts  []string
	parse  func(t *testing.T, text string)
}{
	{"pipeline", []string{`[`, `{"a":`, `"`, `{"steps":[`, `-`}, func(_ *testing.T, text string) { _, _ = millrace.Decode([]byte(text)) }},
	{"lenient pipeline", []string{`[`, `{"a":`, `"`, "```json\n", "/*", "{'a':", "//"}, func(_ *testing.T, text string) {
		_, _ = millrace.Decoder{Lenient: true}.Decode([]byte(text))
	}},
	{"json", []string{`[`, `{"a":`, `"\u`, `[{"a":`}, func(_ *testing.T, text string) {
		_, _ = strictjson.Parse([]byte(text), strictjson.Limits{})
		_, _ = strictjson.CheckDepth([]byte(text), 1000)
	}},
	{"condition", []string{`[`, `{"type":`, `{`}, func(_ *testing.T, text string) { _ = new(condition.Condition).UnmarshalJSON([]byte(text)) }},
	{"stored plan", []string{`[`, `{"changes":[`, `{"version":1,"changes":[{`}, func(t *testing.T, text string) {
		_, _ = host().OpenPlan(t.Context(), afero.NewMemMapFs(), []byte(text))
	}},
	{"journal", []string{`[`, `{"a":`, "{\n", "00000000 {"}, func(_ *testing.T, text string) {
		_, _ = journal.Decode([]byte(text), []byte("0123456789abcdef"))
		_, _ = journal.DecodeTrusted([]byte(text))
		_, _ = journal.DecodeHeader([]byte(text), nil)
	}},
	{"template", []string{`{{`, `{{a.`, `{{a.files[`, `{{a["`, `\{{`, `{{steps[`, `{{a.files}}`}, func(_ *testing.T, text string) {
		known := func(id string) (template.Root, bool) { return template.Root{Name: id, Data: true}, id == "a" }
		_, _ = template.Parse(text, known)
		_, _ = template.Resolve(text, map[string]any{"a": nil})
	}},
	{"sed", []string{`(`, `s/(`, `s/[[:`, `{`, `/`, `\(`, `s/a{1,`, `y/`, `s/(a|`, `p;`, `1,`, `s/a/&/;`}, func(_ *testing.T, text string) {
		for _, syntax := range []sed.Syntax{sed.ERE, sed.BRE, sed.RE2} {
			_, _ = sed.Parse([]string{text}, sed.Options{Syntax: syntax})
			_, _ = sed.Parse([]string{"s/" + text + "/x/"}, sed.Options{Syntax: syntax})
		}
	}},
	{"regular expression", []string{`(`, `(?:`, `[`, `[[:alpha:]`, `a{1000}`, `(?i`, `\pL`, `(a|`, `\Q`, `x*`}, func(_ *testing.T, text string) {
		for _, mode := range []match.Mode{match.Auto, match.Regex, match.Literal} {
			_, _ = match.Parse(text, mode, match.Flags{IgnoreCase: true})
		}
	}},
	{"replacement", []string{`${`, `$`, `\g<`, `\1`, `$1`, `&`}, func(t *testing.T, text string) {
		p, err := match.Parse(`(a)`, match.Regex, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = match.ParseTemplate(text, p)
	}},
	{"glob", []string{`{`, `{a,`, `[`, `[!`, `**/`, `{,?}`, `\`, `*`}, func(_ *testing.T, text string) {
		search := actions.Search{Pattern: "x", Include: []string{text}, Exclude: []string{text}}
		search.Validate(&actions.Check{})
	}},
	{"ignore file", []string{`[`, `**/`, `*`, `\`, "!", "*a\n", "a/**/b\n", "[a-\n", "?", "?\n", "[a]"}, func(t *testing.T, text string) {
		fsys := afero.NewMemMapFs()
		if err := afero.WriteFile(fsys, ".gitignore", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, strings.Repeat("a/", 10)+"a", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = walk.Walk(t.Context(), fsys, ".", walk.Options{}, func(walk.Entry) error { return nil })
	}},
	{"posix bracket", []string{`[`, `[[:`, `[[.`, `[[=`, `[]`, `[^]`, `[a-`, `[[:alpha:]`}, func(_ *testing.T, text string) {
		for _, syntax := range []sed.Syntax{sed.ERE, sed.BRE} {
			for _, end := range []string{"", "]", ":]]", ".]]", "=]]"} {
				_, _ = sed.Parse([]string{"s/[" + text + end + "/x/"}, sed.Options{Syntax: syntax})
			}
		}
	}},
	{"new name", []string{`{{`, `{{dir}}`, `{{stem}}/`, `../`, `{`, `}}`, `/`}, func(_ *testing.T, text string) {
		rename := actions.Rename{Files: []string{"a/b.go"}, To: text}
		rename.Validate(&actions.Check{})
		_, _, _ = rename.Touches()
	}},
	{"lines compared", []string{"\n", "a", "a\n", "\r\n", "\\ No newline at end of file\n", "@@ -1 +1 @@\n", "--- a\n"}, func(t *testing.T, text string) {
		fsys := afero.NewMemMapFs()
		for name, data := range map[string]string{"a": text + "x\n", "b": "y\n" + text} {
			if err := afero.WriteFile(fsys, name, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = host().Run(t.Context(), fsys, decoded(t, act("diff", obj{"file_a": "a", "file_b": "b"})))
	}},
	{"patch", []string{
		"--- a\n", "--- a\n+++ b\n", "@@ -1 +1 @@\n", "@@ -1 +1 @@\n-a\n", "@@\n+\n", "diff --git a/f b/f\n", "diff --git \"\\000", "\n", "+", "-\n", " \n", "\\\n",
		"*** Begin Patch\n", "*** Add File: f\n", "*** Update File: f\n@@\n-a\n", "@@ a\n", "f\n<<<<<<< SEARCH\n", "<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n",
		"```\n", "GIT binary patch\nliteral 9\n", "rename from f\n", "<<", "a ",
	}, func(t *testing.T, text string) {
		for _, begin := range []string{"", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n", "*** Begin Patch\n*** Update File: f\n", "f\n<<<<<<< SEARCH\n", "diff --git a/f b/f\n", "diff --git "} {
			if begin != "" && len(text) > 1<<20 {
				continue
			}
			p := actions.Patch{Text: begin + text}
			p.Validate(&actions.Check{})
			fsys := afero.NewMemMapFs()
			if err := afero.WriteFile(fsys, "f", []byte("a\nb\na\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			stage := fsutil.NewStage(fsys)
			_, _ = p.Run(t.Context(), &actions.Call{FS: stage, Step: "p"})
			stage.Close()
		}
	}},
	{"result", []string{`[`, `{"results":[`, `{"a":`}, func(_ *testing.T, text string) { _ = json.Unmarshal([]byte(text), new(millrace.Result)) }},
}

// A parser ends soon on very many of its own opening characters, with bounded memory, and does not crash the process.
func TestHostile_parsers_are_fed_their_own_opening_characters(t *testing.T) {
	fstest.OneGoroutine(t)
	// Some parsers have limits of their own, and parse a small text whole.
	small := fstest.Runs(fstest.ByItself(5_000, 20_000), 60_000, 60_000)
	middle := fstest.Runs(fstest.ByItself(20_000, 100_000), 1_000_000, 1_000_000)
	whole := fstest.Runs(fstest.ByItself(60_000, 300_000), 16<<20, 16<<20)
	const mostMemory = 2 << 30 // allocated in total, not at one time
	for _, o := range openings {
		for _, opening := range o.texts {
			for _, size := range []int{small, middle, whole} {
				text := strings.Repeat(opening, size/len(opening))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				within(t, patience, func(context.Context) { o.parse(t, text) })
				took := time.Since(start)
				runtime.ReadMemStats(&after)
				allocated := after.TotalAlloc - before.TotalAlloc
				t.Logf("%s, %d bytes of %q: %v, %d MiB", o.parser, size, opening, took.Round(time.Millisecond), allocated>>20)
				if allocated > mostMemory {
					t.Errorf("%s: %d bytes of %q allocate %d MiB", o.parser, size, opening, allocated>>20)
				}
			}
		}
	}
}

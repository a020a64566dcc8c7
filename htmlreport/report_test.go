package htmlreport_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/htmlreport"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

var update = flag.Bool("update", false, "write the golden files")

// act is a step that does something to the stage.
func act(do func(s *fsutil.Stage) error) suite.Action {
	return suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
		return actions.Outcome{}, do(c.FS)
	}}
}

func put(t testing.TB, fsys afero.Fs, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		if err := afero.WriteFile(fsys, files[i], []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// modernise is a plan with some of everything.
func modernise(t testing.TB) *millrace.Plan {
	t.Helper()
	fsys := crashfs.New()
	if err := errors.Join(fsys.MkdirAll("docs", 0o755), fsys.MkdirAll("src/store", 0o755), fsys.MkdirAll("bin", 0o755)); err != nil {
		t.Fatal(err)
	}
	put(t, fsys,
		"src/store/read.go", "package store\n\nimport (\n\t\"io/ioutil\"\n\t\"path\"\n)\n\n// Read reads what is kept under a name. It is slow: ioutil.ReadFile\n// takes the whole file.\n"+
			"func Read(dir, name string) ([]byte, error) {\n\treturn ioutil.ReadFile(path.Join(dir, name))\n}\n\n"+strings.Repeat("// more\n", 12)+
			"// Write writes it.\nfunc Write(dir, name string, data []byte) error {\n\treturn ioutil.WriteFile(path.Join(dir, name), data, 0o600)\n}\n",
		"src/old_test.go", "package src\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Log(\"ioutil\") }\n",
		"docs/guide.txt", "The guide\r\n=========\r\n\r\nCall ioutil.ReadFile, or on Windows ioutil.ReadFile as well 😀.\r\n",
		"bin/logo.png", "\x89PNG\x00\x00old", "run.sh", "#!/bin/sh\ngo test ./...\n",
		"go.mod", "module example.com/store\n\ngo 1.15")
	if err := fsys.SymlinkIfPossible("guide.txt", "docs/latest.txt"); err != nil {
		t.Fatal(err)
	}
	p := millrace.New("modernise").
		Step("find", actions.Search{Path: ".", Pattern: "ioutil.", Mode: "literal"}).
		Step("calls", actions.Edit{OldText: "ioutil.ReadFile", NewText: "os.ReadFile"}).From("find").
		Step("writes", actions.Edit{Files: []string{"src/store/read.go"}, OldText: "ioutil.WriteFile", NewText: "os.WriteFile"}).
		Step("imports", actions.Edit{Files: []string{"src/store/read.go"}, OldText: "\t\"io/ioutil\"\n", NewText: "\t\"os\"\n"}).
		Step("version", actions.Edit{Files: []string{"go.mod"}, OldText: "go 1.15", NewText: "go 1.26\n"}).
		Step("move", actions.Rename{Files: []string{"docs/guide.txt"}, To: "docs/GUIDE.md"}).
		Step("notes", actions.Create{Path: "docs/CHANGES.md", Content: "# Changes\n\n- ioutil is gone\n"}).
		Step("drop", actions.Delete{Files: []string{"src/old_test.go"}}).
		Step("rest", act(func(s *fsutil.Stage) error {
			return errors.Join(s.Chmod("run.sh", 0o755), afero.WriteFile(s, "bin/logo.png", []byte("\x89PNG\x00\x00newer"), 0o644), s.Remove("docs/latest.txt"),
				s.SymlinkIfPossible("GUIDE.md", "docs/latest.txt"), s.Mkdir("empty", 0o755))
		})).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(context.Background(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func report(t testing.TB, plan *millrace.Plan, opt htmlreport.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := htmlreport.Write(&b, plan, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	plan := modernise(t)
	text := report(t, plan, htmlreport.Options{})
	suite.Golden(t, *update, "testdata/report.html", []byte(text))
	check(t, text)
	if again := report(t, plan, htmlreport.Options{}); again != text {
		t.Error("the second report is another one")
	}
}

// check wants a well-formed file of known elements, with no attribute that comes from elsewhere, and returns its text.
func check(t testing.TB, page string) string {
	t.Helper()
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>`
	if !strings.HasPrefix(page, "<!DOCTYPE html>\n") || strings.Count(page, policy) != 1 || strings.Index(page, policy) > strings.Index(page, "<title>") {
		t.Error("no policy before the title")
	}
	for _, r := range page {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)) {
			t.Errorf("there is the character %U", r)
		}
	}
	elements := " html head meta title style body main header h1 h2 p section dl div dt dd strong table colgroup col thead tbody tr th td details summary b bdi span ins del mark i code small footer "
	attributes := " class charset http-equiv content name lang xmlns colspan open "
	var text strings.Builder
	styled := false
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			styled = token.Name.Local == "style"
			if !strings.Contains(elements, " "+token.Name.Local+" ") {
				t.Errorf("there is an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if !strings.Contains(attributes, " "+a.Name.Local+" ") {
					t.Errorf("%s has an attribute %s", token.Name.Local, a.Name.Local)
				}
			}
		case xml.EndElement:
			styled = false
		case xml.CharData:
			if !styled {
				text.Write(token)
			}
		case xml.Comment, xml.ProcInst:
			t.Errorf("there is %v", token)
		}
	}
	return text.String()
}

// hostileTexts are names and lines that try to be more.
func hostileTexts() []string {
	return []string{
		"<script>alert(1)</script>", "</td></tr></table></details><img src=x onerror=alert(1)>", `" onmouseover="alert(1)`, "' autofocus='", "&lt;b&gt; &amp;",
		"\x1b[31mred\x1b]8;;http://x\x07", "\u202eevil\u202c \u2066a\u2069", "zero\u200bwidth \u00ad \ufeff", "\u2028line\u2029", "bad \xff\xfe utf", "\x01\x7f\u0085",
		"<!-- --> <![CDATA[ ]]> <?php ?>", "</style><style>*{display:none}", "\ufffe\uffff\ufdd0 \U0001fffe", "{{.}} ${x} {%x%}", "javascript:alert(1)", "\\u202e",
	}
}

// hostile is a plan of which every name and text is a hostile text.
func hostile(t testing.TB) *millrace.Plan {
	t.Helper()
	fsys := crashfs.New()
	named := func(text string) string { return strings.ReplaceAll(text, "/", "∕") }
	for _, text := range hostileTexts() {
		put(t, fsys, "d "+named(text), "before\nx"+text+"\nafter\n", "r "+named(text), "")
	}
	b := millrace.New("<b>"+hostileTexts()[6]+"</b>").Step("s", act(func(s *fsutil.Stage) error {
		for _, text := range hostileTexts() {
			name := named(text)
			if err := errors.Join(s.Edit("d "+name, []change.Splice{{Off: 7, Len: 1, Text: []byte(text)}}), s.Rename("r "+name, "q "+name),
				s.SymlinkIfPossible(name, "l "+name)); err != nil {
				return err
			}
		}
		return nil
	}))
	plan, err := millrace.Executor{}.Plan(context.Background(), fsys, b.MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// wide is a plan with long lines and names that would be blocked.
func wide(t testing.TB) *millrace.Plan {
	t.Helper()
	long := strings.Repeat("directory-with-a-long-name/", 8) + strings.Repeat("n", 200) + ".min.js"
	fsys := suite.Tree(long, strings.Repeat("var a=1;x(a);", 200)+"\n", "b.txt", "one\r\nx\r\nthree\r\n", "c.txt", "x\ttab\n"+strings.Repeat("木", 300)+"x\n")
	x := millrace.Executor{Risk: risk.Policy{High: risk.Threshold{Files: 2}}}
	plan, err := x.Plan(context.Background(), fsys, suite.Edit(long, "b.txt", "c.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Whatever names and texts are, they are only shown.
func TestHostileText(t *testing.T) {
	plan := hostile(t)
	for _, title := range append([]string{""}, hostileTexts()...) {
		page := report(t, plan, htmlreport.Options{Title: title})
		text := check(t, page)
		for _, want := range []string{"<script>alert(1)</script>", `\x1b[31mred`, `\u202eevil`, `zero\u200bwidth`, `\u2028line`, `bad \xff\xfe utf`, `\ufffe\uffff\ufdd0 \U0001fffe`} {
			if !strings.Contains(text, want) {
				t.Errorf("title %q: there is no %q", title, want)
			}
		}
		// An escape differs from a text that looks like an escape.
		if strings.Count(page, `<i>\u202e</i>`) == 0 || !strings.Contains(page, `d \u202e</bdi>`) {
			t.Errorf("title %q: escapes are not set apart", title)
		}
	}
}

// Reasons for a refusal of the run, and failures, stand at the top.
func TestSaysWhatIsWrong(t *testing.T) {
	fsys := suite.Tree("a", "x", "b", "x")
	blocked, err := millrace.Executor{Risk: risk.Policy{High: risk.Threshold{Files: 2}}}.Plan(t.Context(), fsys, suite.Edit("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	text := check(t, report(t, blocked, htmlreport.Options{}))
	if !strings.Contains(text, "A run would be refused: operation blocked due to HIGH risk") || !strings.Contains(text, "Riskhigh") {
		t.Errorf("of a blocked plan:\n%s", text)
	}
	nothing, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a"))
	if err == nil {
		nothing, err = nothing.Reject("a")
	}
	if err != nil {
		t.Fatal(err)
	}
	if text := check(t, report(t, nothing, htmlreport.Options{})); !strings.Contains(text, "Nothing would change.") {
		t.Errorf("of an empty plan:\n%s", text)
	}
	failed, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("missing"))
	if err == nil || failed == nil {
		t.Fatal(failed, err)
	}
	if text := check(t, report(t, failed, htmlreport.Options{})); !strings.Contains(text, "failed: ") || strings.Contains(text, "Digest") {
		t.Errorf("of a plan that has failed:\n%s", text)
	}
}

// A plan that is too large for the report is reported in less words, and always within its bounds.
func TestMaxBytes(t *testing.T) {
	fsys := afero.NewMemMapFs()
	var names []string
	for i := range 200 {
		name := "dir/" + strings.Repeat("n", i%40) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "<&.txt"
		put(t, fsys, name, strings.Repeat("x <&> \u202e\n", 1+i*i%300))
		names = append(names, name)
	}
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit(names...))
	if err != nil {
		t.Fatal(err)
	}
	whole := report(t, plan, htmlreport.Options{})
	check(t, whole)
	if strings.Count(whole, "<details") != 200 || strings.Contains(whole, "too large") {
		t.Errorf("%d files in %d bytes", strings.Count(whole, "<details"), len(whole))
	}
	shown := 1 << 30
	for _, most := range []int64{1 << 22, 1 << 20, 300_000, 200_000, 100_000, 64 << 10, 20_000, 12_000} {
		page := report(t, plan, htmlreport.Options{MaxBytes: most})
		text := check(t, page)
		if int64(len(page)) > most {
			t.Errorf("%d bytes, more than %d", len(page), most)
		}
		if n := strings.Count(page, `<table class="diff">`); n > shown || n == 200 && most < 1<<20 {
			t.Errorf("%d bytes: %d files with lines", most, n)
		} else {
			shown = n
		}
		files := strings.Count(page, "<details")
		if more := strings.Contains(text, "more are not listed"); more != (files < 200) {
			t.Errorf("%d bytes: %d files, and says %v that there are more", most, files, more)
		}
		if !strings.Contains(text, "+") {
			t.Errorf("%d bytes: no counts", most)
		}
	}
	for _, most := range []int64{1, 2000, -1} {
		if err := htmlreport.Write(io.Discard, plan, htmlreport.Options{MaxBytes: most}); err == nil || !strings.Contains(err.Error(), "MaxBytes") {
			t.Errorf("%d bytes: %v", most, err)
		}
	}
}

// The errors of the writer and of a tree that has changed are reported.
func TestErrors(t *testing.T) {
	fsys := suite.Tree("a", "x", "b", "x")
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for n := range 4 {
		if err := htmlreport.Write(&failing{after: n, err: full}, plan, htmlreport.Options{}); !errors.Is(err, full) {
			t.Errorf("after %d writes: %v", n, err)
		}
	}
	if plan, err = (millrace.Executor{}).OpenPlan(t.Context(), fsys, suite.Stored(t, plan)); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "b", "other x")
	if err := htmlreport.Write(io.Discard, plan, htmlreport.Options{}); !errors.Is(err, fsutil.ErrDrift) {
		t.Errorf("a file that has changed: %v", err)
	}
}

// failing is a writer that fails after some writes.
type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// A file over the host's limits is listed, not an error.
func TestTooLargeToShow(t *testing.T) {
	fsys := suite.Tree("a", strings.Repeat("x\n", 3000))
	plan, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: 1000}}.Plan(t.Context(), fsys, suite.One(actions.Delete{Files: []string{"a"}}))
	if err != nil {
		t.Fatal(err)
	}
	if text := check(t, report(t, plan, htmlreport.Options{})); !strings.Contains(text, "it is too large to be shown") {
		t.Errorf("of a large file:\n%s", text)
	}
}

// editXs plans to make each x of some files a y.
func editXs(t testing.TB, fsys afero.Fs, files ...string) *millrace.Plan {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(context.Background(), fsys, suite.Edit(files...))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

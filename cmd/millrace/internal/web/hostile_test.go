package web_test

import (
	"cmp"
	"errors"
	"html"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// hostileTexts returns hostile names, contents and messages.
func hostileTexts() []string {
	return []string{
		"<script>alert(1)</script>", "</td></tr></table></details></form><img src=x onerror=alert(1)>",
		`" onmouseover="alert(1)`, "' autofocus='", "&lt;b&gt;", "\x1b[31mred\x07", "\u202eevil\u202c",
		"</style><style>*{display:none}", "{{.}} ${x}", "javascript:alert(1)", `"><input name="take" value="0"/>`,
		"</script><script>alert(2)</script>", "\r\nevent: over\r\rdata: <b>x</b>\n\n",
	}
}

// sameTags checks that a page has as many of each tag as another page, and no control characters.
func sameTags(t *testing.T, name, page, want string) {
	t.Helper()
	for _, tag := range []string{
		"<script", "<img", "<nav", "<ul", "<li", "<a", "<summary", "</button>", "</li>", "<tr", "<td", "<style", "<input",
		"<form", "</form>", "</table>", "<details", "</td>", "<button", "<b",
	} {
		if has, all := strings.Count(page, tag), strings.Count(want, tag); has != all {
			t.Errorf("%q: the page has %d %s, not %d", name, has, tag, all)
		}
	}
	if strings.ContainsAny(page, "\x1b\x07\r\u202e") {
		t.Errorf("%q: a control character is not escaped", name)
	}
}

// Names and texts of any kind are only text on the page.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	files, plain := map[string]string{}, map[string]string{}
	for n, text := range hostileTexts() {
		name, content := strings.ReplaceAll(text, "/", "∕")+" x", "one "+strings.ReplaceAll(text, "\n", " ")+"\n"
		files[name+" y/"+name] = content
		plain[string(rune('a'+n))+"/x"] = "one\n"
	}
	s, want := serve(t, millrace.Executor{}, files), serve(t, millrace.Executor{}, plain)
	home, wantHome := s.At, want.At
	for _, path := range []string{"./", "file/3", "lines/3", "lines:beside", "./", "file/3", "lines/3"} {
		if path == "lines:beside" { // a button of the first page
			for _, on := range []*served{s, want} {
				if err := on.Get("./"); err != nil {
					t.Fatal(err)
				}
				on.press(200, "words", path)
				on.At = home
			}
			want.At = wantHome
			continue
		}
		if err := s.Get(path); err != nil {
			t.Fatal(err)
		}
		if err := want.Get(path); err != nil {
			t.Fatal(err)
		}
		sameTags(t, path, s.Page, want.Page)
		s.At, want.At = home, wantHome
	}
}

// The name of a pipeline and messages of steps are also only text.
func TestHostileName(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	s := serve(t, x, map[string]string{"a": words})
	plan, err := x.Plan(t.Context(), s.root, millrace.New("<b>bold</b> \u202e").
		Step("fix", actions.Edit{Files: []string{"a"}, OldText: "d", NewText: "D"}).
		Step("none", actions.PatternReplace{FilePattern: "<i>*", SedPattern: []string{"s/a/b/"}}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if s.stored, err = plan.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	s.press(409, "This is another plan now", "apply")
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.Page, "<b>bold") || strings.Contains(s.Page, "<i>*") || !strings.Contains(s.Page, "&lt;b&gt;bold") ||
		!strings.Contains(s.Page, "&lt;i&gt;*") || strings.Contains(s.Page, "\u202e") {
		t.Errorf("a name is not only text:\n%s", s.Page)
	}
}

// The page of a run that the user has not signed does not show the digest of its plan and does not have a form: such a
// run cannot be rejected. On the page of the user's own run the digest is only text.
func TestHostileDigest(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	s := serveRuns(t, "a", words, list, jobs)
	s.gone = errors.New("it came with a clone")
	at, plain := s.At, ""
	for _, digest := range append([]string{strings.Repeat("0", 64)}, hostileTexts()...) {
		list[0].Held.PlanDigest = digest
		if s.At = at; s.Get("run/3/") != nil || s.Status != 409 {
			t.Fatalf("the status is %d", s.Status)
		}
		plain = cmp.Or(plain, s.Page)
		sameTags(t, digest, s.Page, plain)
		if strings.Contains(s.Page, "<form") {
			t.Errorf("%q: the page has a form", digest)
		}
	}
	list[0].Foreign, list[0].Held.PlanDigest = false, `"/><button formaction="../7/decide">`
	if s.At = at; s.Get("run/3/") != nil || s.Status != 409 || strings.Contains(s.Page, "<button f") {
		t.Errorf("status %d:\n%s", s.Status, s.Page)
	}
	if _, values, err := s.Form(); err != nil || html.UnescapeString(values.Get("digest")) != list[0].Held.PlanDigest {
		t.Errorf("the digest is %q: %v", values.Get("digest"), err)
	}
}

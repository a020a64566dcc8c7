package web_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Whatever names and texts are, the page only shows them.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	texts := []string{
		"<script>alert(1)</script>", "</td></tr></table></details></form><img src=x onerror=alert(1)>", `" onmouseover="alert(1)`,
		"' autofocus='", "&lt;b&gt;", "\x1b[31mred\x07", "\u202eevil\u202c", "</style><style>*{display:none}", "{{.}} ${x}", "javascript:alert(1)",
		`"><input name="take" value="0"/>`, "</script><script>alert(2)</script>",
	}
	files := map[string]string{}
	for _, text := range texts {
		files[strings.ReplaceAll(text, "/", "∕")+" x"] = "one " + text + "\n"
	}
	plain := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		plain[name] = "one\n"
	}
	s, want := serve(t, millrace.Executor{}, files), serve(t, millrace.Executor{}, plain)
	home, wantHome := s.At, want.At
	for _, path := range []string{"./", "file/3", "lines/3"} {
		if err := s.Get(path); err != nil {
			t.Fatal(err)
		}
		if err := want.Get(path); err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"<script", "<img", "<style", "<input", "<form", "</form>", "</table>", "<details", "</td>", "<button"} {
			if has, all := strings.Count(s.Page, tag), strings.Count(want.Page, tag); has != all {
				t.Errorf("%s: there are %d %s, not %d", path, has, tag, all)
			}
		}
		if strings.ContainsAny(s.Page, "\x1b\x07\u202e") {
			t.Errorf("%s: a control character is not escaped", path)
		}
		s.At, want.At = home, wantHome
	}
}

// The name of a pipeline, and messages of steps, are texts too.
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

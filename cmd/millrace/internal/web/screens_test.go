package web_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// three is a text with "one" in three places, which are far from each other.
const three = words + "k\nl\nm\nn\no\np\nq\none 3\n"

// A person takes two hunks of three in a browser and applies them: the tree has these two. The window is wide or
// narrow, light or dark. The person uses only the mouse or only the keyboard, with or without scripts.
func TestScreens(t *testing.T) {
	b, axe := openChromium(t), readAxe(t)
	for _, c := range []struct {
		width        int
		scheme, hand string
	}{
		{1200, "light", "mouse"}, {1200, "dark", "keyboard"}, {400, "light", "keyboard"}, {400, "dark", "mouse"},
		{1200, "light", "mouse without scripts"},
	} {
		name := fmt.Sprintf("plan-%d-%s-%s", c.width, c.scheme, strings.ReplaceAll(c.hand, " ", "-"))
		b.t = t
		s := serve(t, millrace.Executor{}, map[string]string{"a": three})
		b.as(c.width, c.scheme)
		b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": strings.HasSuffix(c.hand, "scripts")}, nil)
		b.visit(s.address)
		if strings.Contains(eval[string](b, "location.href"), "token") {
			t.Error("the token stays in the address")
		}
		if eval[bool](b, `matchMedia("(prefers-color-scheme: dark)").matches`) != (c.scheme == "dark") {
			t.Errorf("%s: the colours are not %s", name, c.scheme)
		}
		b.fits()
		b.picture(name)
		if c.hand != "mouse without scripts" {
			b.axed(axe, name)
		}
		if c.hand == "keyboard" {
			b.press("j", "y", "n", "y")
			b.tabTo("button.yes")
			b.picture(name + "-decided")
			b.loading(func() { b.press("Enter") })
		} else {
			b.click(`input[value="0.1"]`)
			b.picture(name + "-decided")
			b.loading(func() { b.click("button.yes") })
		}
		if heading := eval[string](b, `document.querySelector("h1").textContent`); heading != "The change was made" {
			t.Errorf("%s: the answer is %q", name, heading)
		}
		b.fits()
		b.picture(name + "-made")
		s.end(nil)
		s.holds(map[string]string{
			"a": strings.NewReplacer("one 1", "two 1", "one 3", "two 3").Replace(three),
		})
		b.quiet(s.address)
	}
}

// tabTo presses the key Tab until an element has the focus.
func (b *chromium) tabTo(selector string) {
	b.t.Helper()
	for range 20 {
		if eval[bool](b, "document.activeElement.matches("+quoted(selector)+")") {
			return
		}
		b.press("Tab")
	}
	b.t.Fatalf("the key Tab does not lead to %s", selector)
}

// Each key has the effect in a browser that the page documents.
func TestKeys(t *testing.T) {
	b := openChromium(t)
	s := serve(t, millrace.Executor{}, map[string]string{"a": three, "b": words, "c": words})
	for _, c := range []struct{ keys, left, here string }{
		{"j", "", "0.0"},
		{"n", "0 0.0 0.1 0.2", "1"},
		{"y", "", "1"},
		{"jn", "0.0", "0.1"},
		{"jnnn", "0 0.0 0.1 0.2", "1"},
		{"jnnnbbby", "0.1 0.2", "0.1"},
		{"jjd", "0.1 0.2", "1"},
		{"na", "0 0.0 0.1 0.2", "2"},
		{"jda", "0 0.0 0.1 0.2", "2"},
		{"jjD", "0.1 0.2 1 1.0 1.1 2 2.0 2.1", "2.1"},
		{"DbbbA", "0 0.0 0.1 0.2 1.0", "2.1"},
		{"bb", "", "0"},
		{"z", "", ""},
		{"DbbbT", "0 0.0 0.1 0.2 1 1.0 1.1 2 2.0 2.1", "1.1"},
		{"Dbbbt", "0 0.0 0.1 0.2 1.0", "2"},
		{"jp", "", "0"},
	} {
		b.visit(s.address)
		b.press(strings.Split(c.keys, "")...)
		left := eval[string](b, `[...document.querySelectorAll("input[name=take]:not(:checked)")]
			.map((b) => b.value).join(" ")`)
		here := eval[string](b, `document.querySelector(".here input")?.value ?? ""`)
		if left != c.left || here != c.here {
			t.Errorf("%s leaves out %q and is at %q, not %q at %q", c.keys, left, here, c.left, c.here)
		}
	}
	if eval[bool](b, `document.querySelector("#f0 details").open`) {
		t.Error("the key p does not fold the lines of the file")
	}
	state := `document.querySelector('.tree a[href="#f0"]').parentElement.querySelector(".state").textContent`
	for keys, want := range map[string]string{"jn": "partly left", "n": "left", "nbbbby": ""} {
		b.visit(s.address)
		b.press(strings.Split(keys, "")...)
		if got := eval[string](b, state); got != want {
			t.Errorf("%s: the tree marks the file with %q, not with %q", keys, got, want)
		}
	}
	for key, button := range map[string]string{"q": "button.yes", "Q": "button.no"} {
		b.press(key)
		if !eval[bool](b, "document.activeElement.matches("+quoted(button)+")") {
			t.Errorf("the key %s does not lead to %s", key, button)
		}
	}
	b.press("?")
	if !eval[bool](b, `document.querySelector(".keys").open`) {
		t.Error("the key ? does not show the keys")
	}
	b.quiet(s.address)
	s.holds(map[string]string{"a": three})
}

// All hunks of a renamed file can be left out although its new name is taken. The key t takes only parts that exactly
// the same steps made.
func TestScreensOfRenamed(t *testing.T) {
	b := openChromium(t)
	s := serveRenamed(t)
	for _, c := range []struct{ keys, left, mark string }{
		{"jjjjnn", "1.0 1.1", "partly left"},
		{"jjjjnnbby", "1.1", "partly left"},
		{"jjjn", "1 1.0 1.1", "left"},
		{"jnn", "0 0.0 0.1", ""},
		{"Dbbbbbbbt", "0.1 1.1 2.1", "partly left"},
	} {
		b.visit(s.address)
		b.press(strings.Split(c.keys, "")...)
		left := eval[string](b, `[...document.querySelectorAll("input[name=take]:not(:checked)")]
			.map((b) => b.value).join(" ")`)
		mark := eval[string](b, `document.querySelector('.tree a[href="#f1"]').parentElement.querySelector(".state")
			.textContent`)
		if left != c.left || mark != c.mark {
			t.Errorf("%s leaves out %q and marks %q, not %q and %q", c.keys, left, mark, c.left, c.mark)
		}
	}
	b.quiet(s.address)
}

// Other pages of a plan fit into the window and pass axe-core: a page with a folded file and a file that is left out,
// the page of a file, and a message.
func TestScreensOfParts(t *testing.T) {
	b, axe := openChromium(t), readAxe(t)
	s := serve(t, millrace.Executor{}, map[string]string{"a": strings.Repeat("one\n", 310), "b": "x\n" + three})
	for _, scheme := range []string{"light", "dark"} {
		b.as(400, scheme)
		b.visit(s.address)
		look := func(name string) {
			t.Helper()
			b.fits()
			b.picture("part-" + name + "-" + scheme)
			b.axed(axe, name+" "+scheme)
		}
		b.click(".keys summary")
		b.click("#f0 summary")
		b.wait(`document.querySelectorAll("#f0 tr").length > 600`)
		b.click(`input[value="1"]`)
		look("unfolded")
		b.visit(eval[string](b, "location.href") + "file/1")
		look("file")
		b.visit(eval[string](b, "location.href") + "1")
		look("message")
		if len(b.heard) != 1 || !strings.Contains(b.heard[0], fmt.Sprint(http.StatusNotFound)) {
			t.Errorf("the console has %q", b.heard) // the browser notes a status there
		}
		b.heard = nil
	}
	b.quiet(s.address)
}

// A browser shows runs: the list, a running run whose page follows it, and a waiting run, which is approved.
func TestScreensOfRuns(t *testing.T) {
	b, axe := openChromium(t), readAxe(t)
	for _, scheme := range []string{"light", "dark"} {
		list, jobs := withTexts("the agent has asked for <b>more</b>")
		list = append(list, runs.Run{ID: "0", Status: runs.Running, Name: "fix", UpdatedAt: list[0].UpdatedAt})
		jobs["0"] = []runs.Job{{Name: "fix", Action: "prompt", Status: runs.Running}}
		s := serveRuns(t, "a", words, list, jobs)
		b.as(400, scheme)
		look := func(name string) {
			t.Helper()
			b.fits()
			b.picture("runs-" + name + "-" + scheme)
			b.axed(axe, name+" "+scheme)
		}
		b.visit(s.address)
		look("list")
		b.loading(func() { b.click(`a[href$="/run/0/"]`) })
		look("running")
		s.mu.Lock()
		jobs["0"][0].Reason = "the tests fail"
		s.mu.Unlock()
		b.wait(`document.querySelector("#live").textContent.includes("the tests fail")`)
		b.loading(func() { s.become("0", runs.Success) })
		if live := eval[string](b, `document.querySelector("#live").textContent`); !strings.Contains(live, "success") {
			t.Errorf("the page shows %q", live)
		}
		look("ended")
		b.loading(func() { b.click(`p > a`) })
		b.loading(func() { b.click(`a[href$="/run/3/"]`) })
		look("waiting")
		b.loading(func() { b.click("button.yes") })
		look("approved")
		if len(s.decided) != 1 || !strings.HasPrefix(s.decided[0], "3 approved ") {
			t.Errorf("the decisions are %q", s.decided)
		}
		b.quiet(s.address)
	}
}

// The colours of code pass axe-core, in one column or two. In a wide window the tree is a separate column.
func TestScreensOfCode(t *testing.T) {
	b, axe := openChromium(t), readAxe(t)
	s := serve(t, millrace.Executor{}, map[string]string{
		"a.go": "package a // one\n\n/* one */\nfunc one() string {\n\treturn \"one\" + `one` // one\n}\n\nvar one1 = 1\n",
		"b.py": "# one\ndef one():\n    \"\"\"one\"\"\"\n    return 'one' if 1 else None\n",
		"c.md": words,
	})
	for _, c := range []struct {
		width  int
		scheme string
	}{{1200, "light"}, {400, "dark"}, {1200, "dark"}, {400, "light"}} {
		b.as(c.width, c.scheme)
		b.visit(s.address)
		for _, side := range []string{"below", "beside"} {
			if button := `button[value="lines:` + side + `"]`; eval[bool](b, "!!document.querySelector("+quoted(button)+")") {
				b.loading(func() { b.click(button) })
			}
			name := fmt.Sprintf("code-%d-%s-%s", c.width, c.scheme, side)
			if colours := eval[int](b, `new Set([...document.querySelectorAll("td span[class]")].map((s) =>
				getComputedStyle(s).color)).size`); colours < 4 {
				t.Errorf("%s: the code has %d colours", name, colours)
			}
			if tables := eval[int](b, `document.querySelectorAll("table.side").length`); (tables == 3) != (side == "beside") {
				t.Errorf("%s: %d files are side by side", name, tables)
			}
			wide := eval[bool](b, `document.querySelector(".tree").getBoundingClientRect().right <=
				document.querySelector("#f0").getBoundingClientRect().left`)
			if wide != (c.width == 1200) {
				t.Errorf("%s: the tree is a column: %v", name, wide)
			}
			b.fits()
			b.picture(name)
			eval[any](b, "scrollTo(0, document.body.scrollHeight); null") // at the end the buttons cover no line
			b.axed(axe, name)
		}
	}
	b.quiet(s.address)
}

// A person leaves out a hunk of a waiting run in a browser, and approves the rest.
func TestScreensOfPartOfRun(t *testing.T) {
	b, axe := openChromium(t), readAxe(t)
	list := []runs.Run{{ID: "4", Status: runs.Manual, Name: "fix", Held: &runs.Held{JobID: "41"}}}
	jobs := map[string][]runs.Job{"4": {{ID: "41", Name: "commit", Kind: runs.JobCommit, Status: runs.Manual}}}
	s := serveRuns(t, "a.go", three, list, jobs)
	b.as(400, "light")
	b.visit(s.address)
	b.loading(func() { b.click(`a[href$="/run/4/"]`) })
	b.press("j", "y", "n", "q")
	b.fits()
	b.picture("runs-part")
	b.axed(axe, "runs-part")
	b.loading(func() { b.press("Enter") })
	if want := map[string][]int{"a.go": {1}}; !reflect.DeepEqual(s.left, want) || len(s.decided) != 1 {
		t.Errorf("the decisions are %q, which leave out %v, not %v", s.decided, s.left, want)
	}
	b.quiet(s.address)
}

package htmlreport_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/htmlreport"
	"github.com/millrace-go/millrace/internal/crashfs"
)

// screensVariable names the directory into which TestScreens writes what it has seen. Without it, the test is skipped.
const screensVariable = "MILLRACE_SCREENS"

// pictured is the width of the pictures of "readme" that docs/ has.
const pictured = 840

// TestScreens shows reports in a browser, wide and narrow, light and dark: the page is as wide as the window, it prints
// nothing on the console, and requests nothing. The pictures are for people.
func TestScreens(t *testing.T) {
	dir := os.Getenv(screensVariable)
	if dir == "" {
		t.Skipf("%s is not set: no browser is started (.ci/run screens)", screensVariable)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t)
	if err := b.attach(); err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{
		"plan":    report(t, modernise(t), htmlreport.Options{}),
		"readme":  report(t, misspelt(t), htmlreport.Options{}),
		"hostile": report(t, hostile(t), htmlreport.Options{}),
		"blocked": report(t, wide(t), htmlreport.Options{Title: "Rename of the parser " + strings.Repeat("x", 200)}),
	} {
		file, err := filepath.Abs(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{1200, pictured, 400} {
			for _, scheme := range []string{"light", "dark"} {
				picture := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
				if err := b.show("file://"+file, width, scheme, picture); err != nil {
					t.Fatalf("%s: %v", picture, err)
				}
			}
		}
	}
}

// misspelt is the plan of README's session.
func misspelt(t *testing.T) *millrace.Plan {
	t.Helper()
	fsys := crashfs.New()
	if err := errors.Join(fsys.MkdirAll("docs", 0o755), fsys.MkdirAll("src", 0o755)); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "docs/mail.md", "# Mail\n\nTo recieve mail, call Get.\n",
		"src/mail.go", "package mail\n\n// Get returns what we recieve.\nfunc Get() string { return recieve() }\n")
	p := millrace.New("replace recieve").
		Step("search", actions.Search{Path: ".", Pattern: "recieve"}).
		Step("replace", actions.Edit{OldText: "recieve", NewText: "receive"}).From("search").
		Step("rename", actions.Rename{Files: []string{"docs/mail.md"}, To: "docs/mail.txt"}).
		MustBuild()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// show opens a page and takes a picture of it.
func (b *browser) show(url string, width int, scheme, picture string) error {
	metrics := map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
	media := map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}
	err := errors.Join(
		b.call("Emulation.setDeviceMetricsOverride", metrics, nil), b.call("Emulation.setEmulatedMedia", media, nil),
		b.call("Page.navigate", map[string]any{"url": url}, nil), b.waitFor("Page.loadEventFired"))
	if err != nil {
		return err
	}
	var seen struct {
		Result struct {
			Value struct {
				Scroll, Window, Scripts, Open int
				Scheme                        bool
				Widest                        string
			}
		}
	}
	// The console of the browser may do what the page may not.
	const look = `({
		scroll: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth), window: innerWidth, scripts: document.scripts.length,
		scheme: matchMedia("(prefers-color-scheme: dark)").matches, open: document.querySelectorAll("details[open]").length,
		widest: [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200)).join("\n"),
	})`
	if err := b.call("Runtime.evaluate", map[string]any{"expression": look, "returnByValue": true}, &seen); err != nil {
		return err
	}
	v := seen.Result.Value
	if v.Scroll > width || v.Window != width || v.Widest != "" {
		return fmt.Errorf("the page is %d wide in a window of %d: %s", v.Scroll, v.Window, v.Widest)
	}
	if v.Scripts != 0 || v.Open == 0 || v.Scheme != (scheme == "dark") {
		return fmt.Errorf("the page is not what it should be: %+v", v)
	}
	var shot struct{ Data string }
	if err := b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(picture, data, 0o644)
	}
	for _, said := range b.heard {
		if !strings.HasPrefix(said, "Network.requestWillBeSent") || !strings.Contains(said, `"url":"`+url+`"`) {
			err = errors.Join(err, fmt.Errorf("the page has said: %s", said))
		}
	}
	b.heard = nil
	return err
}

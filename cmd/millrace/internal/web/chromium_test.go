package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screensVariable names the directory into which the tests with a browser write their pictures. Without it, they are
// skipped.
const screensVariable = "MILLRACE_SCREENS"

// patience is the longest wait for a message of the browser. After it, the test fails and reports its earlier failures.
const patience = time.Minute

// chromium is a headless browser that reads commands from a pipe. Package htmlreport has its own driver, because a door
// imports no internal package of the library, and an importer of the library needs no driver.
type chromium struct {
	t        *testing.T
	dir      string // of the pictures
	in, pipe *os.File
	out      *bufio.Reader // of the pipe
	calls    int
	session  string
	loads    int      // how many pages were loaded
	asked    []string // the addresses of all requests
	heard    []string // all output of pages on the console
}

// openChromium starts a browser until the end of the test, or skips the test.
func openChromium(t *testing.T) *chromium {
	t.Helper()
	dir := os.Getenv(screensVariable)
	if dir == "" {
		t.Skipf("%s is not set: no browser is started (.ci/run screens)", screensVariable)
	}
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Skip("Chromium, which opens the pages, is not installed; on Debian: apt-get install chromium-headless-shell")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "browser")
	if err := errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
		"--hide-scrollbars", "--no-sandbox", // a container allows no sandbox; only pages of this test are loaded
		"--user-data-dir="+profile)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()                                           // the error is that it was killed
		_, _, _ = in.Close(), out.Close(), os.RemoveAll(profile) // other processes of the browser may still write there
	})
	if err := errors.Join(theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	b := &chromium{t: t, dir: dir, in: in, pipe: out, out: bufio.NewReader(out)}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Log", "Runtime", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// message is an answer of the browser, or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// call sends a command and reads the answer into result, if that is not nil.
func (b *chromium) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.calls++
	request := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err == nil {
		_, err = b.in.Write(append(data, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		switch {
		case m.ID != b.calls:
			continue
		case m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
		return
	}
}

// next reads a message, and records the requests and console output of the page.
func (b *chromium) next() (m message) {
	b.t.Helper()
	var data []byte
	err := b.pipe.SetReadDeadline(time.Now().Add(patience))
	if err == nil {
		data, err = b.out.ReadBytes(0)
	}
	if err == nil {
		err = json.Unmarshal(data[:len(data)-1], &m)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loads++
	case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Page.javascriptDialogOpening":
		b.heard = append(b.heard, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &sent); err != nil {
			b.t.Fatal(err)
		}
		b.asked = append(b.asked, sent.Request.URL)
	}
	return m
}

// loading calls do, which makes the browser load a page, and waits for that page.
func (b *chromium) loading(do func()) {
	b.t.Helper()
	before := b.loads
	do()
	for b.loads == before {
		b.next()
	}
}

// visit loads the page at an address.
func (b *chromium) visit(address string) {
	b.t.Helper()
	b.loading(func() { b.call("Page.navigate", map[string]any{"url": address}, nil) })
}

// as sets the width of the window, and light or dark colours.
func (b *chromium) as(width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600,
	}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

// eval returns the value of an expression in the page. The policy of the page does not restrict it.
func eval[T any](b *chromium, expression string) T {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value T }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s", e.Text, e.Exception.Description)
	}
	return answer.Result.Value
}

// wait waits until an expression is true in the page.
func (b *chromium) wait(expression string) {
	b.t.Helper()
	eval[bool](b, `new Promise((seen) => {
		const look = () => `+expression+` ? seen(true) : requestAnimationFrame(look);
		look();
	})`)
}

// click clicks on the middle of an element.
func (b *chromium) click(selector string) {
	b.t.Helper()
	at := eval[struct{ X, Y float64 }](b, `(() => {
		const e = document.querySelector(`+quoted(selector)+`);
		e.scrollIntoView({ block: "center" });
		const r = e.getBoundingClientRect();
		return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
	})()`)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		}, nil)
	}
}

// press presses keys: characters, "Tab", or "Enter".
func (b *chromium) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key, "text": key}
		switch key {
		case "Tab":
			down["windowsVirtualKeyCode"] = 9
			delete(down, "text")
		case "Enter":
			down["windowsVirtualKeyCode"], down["text"] = 13, "\r"
		}
		b.call("Input.dispatchKeyEvent", down, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	}
}

// picture writes a picture of the page, for people.
func (b *chromium) picture(name string) {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	if err := os.WriteFile(filepath.Join(b.dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fits checks that no element is wider than the window.
func (b *chromium) fits() {
	b.t.Helper()
	if wide := eval[string](b, `[...document.querySelectorAll("body *")]
		.filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
		.map((e) => e.outerHTML.slice(0, 200)).join("\n")`); wide != "" {
		b.t.Errorf("these elements are wider than the window:\n%s", wide)
	}
}

// quiet checks that pages printed nothing on the console, and sent requests only to their own server.
func (b *chromium) quiet(address string) {
	b.t.Helper()
	for _, text := range b.heard {
		b.t.Errorf("the page printed: %s", text)
	}
	own := "http://" + parse(b.t, address).Host + "/"
	for _, asked := range b.asked {
		if !strings.HasPrefix(asked, own) {
			b.t.Errorf("the page requested %s", asked)
		}
	}
	if len(b.asked) == 0 {
		b.t.Error("no request was seen")
	}
	b.heard, b.asked = nil, nil
}

// quoted returns a text as a literal of a script.
func quoted(text string) string {
	data, _ := json.Marshal(text) // a string always has JSON
	return string(data)
}

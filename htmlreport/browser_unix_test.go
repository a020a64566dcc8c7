package htmlreport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// browser is a Chromium without a window that takes its commands from a pipe.
type browser struct {
	in      io.Writer
	out     *bufio.Reader
	calls   int
	session string
	heard   []string // what pages have said on their consoles
}

// openBrowser starts a browser until the test is over, or skips the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Skip("Chromium, which shows the report, is not installed; on Debian: apt-get install chromium-headless-shell")
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
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
		"--no-sandbox", // which a container does not let it make; it sees only what this test has written
		"--user-data-dir="+profile)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()                                           // it was killed
		_, _, _ = in.Close(), out.Close(), os.RemoveAll(profile) // its processes may still write there
	})
	if err := errors.Join(theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	return &browser{in: in, out: bufio.NewReader(out)}
}

// message is an answer of the browser, or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// call asks for something and reads the answer into result, if that is not nil.
func (b *browser) call(method string, params map[string]any, result any) error {
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
		return err
	}
	for {
		m, err := b.next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.ID != b.calls:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		default:
			return nil
		}
	}
}

// next reads a message, and keeps those of a console.
func (b *browser) next() (message, error) {
	var m message
	data, err := b.out.ReadBytes(0)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
		return m, err
	}
	switch m.Method {
	case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Page.javascriptDialogOpening", "Network.requestWillBeSent":
		b.heard = append(b.heard, m.Method+" "+string(m.Params))
	}
	return m, nil
}

// waitFor reads messages up to a message of a method.
func (b *browser) waitFor(method string) error {
	for {
		if m, err := b.next(); err != nil || m.Method == method {
			return err
		}
	}
}

// attach opens a tab and listens to it.
func (b *browser) attach() error {
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	if err := b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Log", "Runtime", "Network"} {
		if err := b.call(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

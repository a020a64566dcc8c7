//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ended fails the test if the exit status does not match the tree. After exit status 6 it runs recover first.
func (tr *tree) ended(status int, talk string) {
	tr.t.Helper()
	switch status {
	case 6:
		if !strings.Contains(talk, "millrace recover") {
			tr.t.Errorf("the message does not name the next command:\n%s", talk)
		}
		tr.must("recover")
		tr.whole()
	case 0, 130:
		if isChanged := tr.whole(); isChanged != (status == 0) {
			tr.t.Errorf("exit status %d, and the tree is changed: %v\n%s", status, isChanged, talk)
		}
	case 1:
		if !tr.whole() || !strings.Contains(talk, "the change was made") {
			tr.t.Errorf("exit status 1, and the tree is not changed\n%s", talk)
		}
	case -1: // the signal came before the program handled signals
		if tr.whole() {
			tr.t.Error("the program changed the tree before it handled signals")
		}
	default:
		tr.t.Errorf("exit status %d\n%s", status, talk)
	}
}

// phasesOf are the events and commit phases at which the tests send signals.
var phasesOf = []string{"run_started", "step_started", "verify", "stage", "backup", "journal", "apply", "sync", "commit", "clean", "run_finished", "result"}

// signalled runs a command and sends it signals at a phase. The process is stopped while they are sent, so it gets
// all of them at the same place.
func (tr *tree) signalled(phase string, signals []os.Signal, args ...string) (status int, talk string) {
	tr.t.Helper()
	cmd := tr.command(append(args, "--events", "-")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tr.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tr.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	sent := false
	for lines.Scan() {
		var e struct{ Event, Phase string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || sent || e.Event != phase && (e.Event != "commit_phase" || e.Phase != phase) {
			continue
		}
		sent = true
		_ = cmd.Process.Signal(syscall.SIGSTOP) // each of these signals may come too late
		for _, s := range signals {
			_ = cmd.Process.Signal(s)
		}
		_ = cmd.Process.Signal(syscall.SIGCONT)
	}
	return tr.status(cmd.Wait()), stderr.String()
}

// The exit status matches the tree after any signal, or two signals, at any phase of any command.
func TestSignals(t *testing.T) {
	t.Parallel()
	sequences := map[string][]os.Signal{
		"INT": {os.Interrupt}, "TERM": {syscall.SIGTERM}, "HUP": {syscall.SIGHUP},
		"INT, TERM": {os.Interrupt, syscall.SIGTERM}, "HUP, INT": {syscall.SIGHUP, os.Interrupt},
	}
	for door, args := range map[string][]string{
		"run": {"run", "swap.json", "-y"}, "plan and apply": {"apply", "p.plan", "-y", "--force"}, "undo": {"undo", "--last", "-y"},
	} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			tr := manyFiles(t, 80)
			for i, phase := range phasesOf {
				j := 0
				for name, signals := range sequences {
					j++
					if testing.Short() || os.Getenv("MILLRACE_SAMPLES") != "full" {
						if (i+j)%8 != 0 { // the order of a map is random, so repeated runs try all pairs
							continue
						}
					}
					isUndo := door == "undo"
					switch door {
					case "plan and apply":
						_ = os.Remove(filepath.Join(tr.dir, "p.plan"))
						tr.must("plan", "swap.json", "-o", "p.plan")
					case "undo":
						tr.must("run", "swap.json", "-y")
					}
					status, talk := tr.signalled(phase, signals, args...)
					what := fmt.Sprintf("%s at %s: %s", name, phase, talk)
					if isUndo {
						tr.undoEnded(status, what)
					} else {
						tr.ended(status, what)
					}
					tr.must("recover")
					tr.clean()
					tr.reset()
				}
			}
		})
	}
}

// undoEnded is like ended, but for an undo: success means that the tree is old.
func (tr *tree) undoEnded(status int, talk string) {
	tr.t.Helper()
	switch status {
	case 6:
		tr.must("recover")
		tr.whole()
	case 0, 1, 130, -1:
		if isOld := !tr.whole(); isOld != (status == 0 || status == 1) {
			tr.t.Errorf("exit status %d, and the tree is old: %v\n%s", status, isOld, talk)
		}
	default:
		tr.t.Errorf("exit status %d\n%s", status, talk)
	}
}

// A program that inherits an ignored signal, as under nohup, ignores the signal too.
func TestSignals_nohup(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 80)
	cmd := tr.command()
	script := `trap '' HUP; exec "$0" run swap.json -y --events -`
	sh := exec.CommandContext(t.Context(), "sh", "-c", script, program)
	sh.Dir, sh.Env = cmd.Dir, cmd.Env
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		_ = sh.Process.Signal(syscall.SIGHUP)
	}
	if err := sh.Wait(); err != nil || !tr.whole() {
		t.Errorf("the end is %v", err)
	}
}

// callOf returns a tool call that requests progress notices.
func callOf(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}}`, id, tool, args, id)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`

// answeredTo fails the test if an answer does not match the tree.
func (tr *tree) answeredTo(text string) {
	tr.t.Helper()
	failed := strings.Contains(text, `"isError":true`) || strings.Contains(text, `"error"`)
	if isChanged := tr.whole(); isChanged == failed {
		tr.t.Errorf("the tree is changed: %v, and the answer is %.500s", isChanged, text)
	}
}

// A server that gets a stop signal answers the open calls, and does not wait for a person.
func TestSignals_mcp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, flag, until string
		signal            os.Signal
	}{
		{"while it plans", "--allow-force", "step", syscall.SIGTERM},
		{"while it commits", "--allow-force", "commit:", syscall.SIGTERM},
		{"while it hangs up", "--allow-force", "commit:", syscall.SIGHUP},
		{"while a person is asked", "--no-project", "elicitation/create", syscall.SIGTERM},
	} {
		t.Run("stdio "+c.name, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(c.signal) {
				t.Skip("NOT TESTED: this process was started to ignore the signal, as by nohup, and so is the server")
			}
			tr := manyFiles(t, 400)
			cmd := tr.command("mcp", "--root", tr.dir, c.flag)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// SIGQUIT makes a server that lingers print the stacks of its goroutines.
			lingering := time.AfterFunc(hang/2, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
			defer lingering.Stop()
			swap, err := os.ReadFile(filepath.Join(tr.dir, "swap.json"))
			if err != nil {
				t.Fatal(err)
			}
			args := fmt.Sprintf(`{"pipeline_json":%s}`, strings.ReplaceAll(string(swap), "\n", " "))
			_, _ = io.WriteString(in, hello+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+callOf(2, "batch_operations", args)+"\n")
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			var answer string
			var begin time.Time
			seen := false
			for lines.Scan() {
				isAnswer := strings.Contains(lines.Text(), `"id":2`)
				if isAnswer {
					answer = lines.Text()
				}
				// The server has read the call once it sends a notice or a request. The words of its instructions do not count.
				isUntil := strings.Contains(lines.Text(), `"method":`) && strings.Contains(lines.Text(), c.until)
				seen = seen || isUntil
				if begin.IsZero() && (isUntil || isAnswer) { // some progress notices are left out
					begin = time.Now()
					_ = cmd.Process.Signal(c.signal)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the end is %v\n%s", err, stderr.String())
			}
			if !seen && c.until != "commit:" {
				t.Errorf("the server never sent %q", c.until)
			}
			// After a signal the server waits at most ten seconds. Here nothing takes that long.
			if took := time.Since(begin); !begin.IsZero() && took > 8*time.Second {
				t.Errorf("the server lingers for %v", took)
			}
			tr.answeredTo(answer)
			tr.clean()
		})
	}
}

// Over HTTP the server answers an open call too, and an open stream does not keep the server running.
func TestSignals_mcpHTTP(t *testing.T) {
	t.Parallel()
	tr := manyFiles(t, 400)
	cmd := tr.command("mcp", "--root", tr.dir, "--allow-force", "--http", "127.0.0.1:0")
	const secret = "a token that is long enough"
	cmd.Env = append(cmd.Env, "MILLRACE_MCP_TOKEN="+strings.ReplaceAll(secret, " ", "-"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(stderr)
	url := ""
	for url == "" && said.Scan() {
		if _, at, ok := strings.Cut(said.Text(), " at "); ok {
			url = at
		}
	}
	go func() {
		for said.Scan() { // until its end
		}
	}()
	session := ""
	send := func(method, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.ReplaceAll(secret, " ", "-"))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := send(http.MethodPost, hello)
	session = res.Header.Get("Mcp-Session-Id")
	_ = res.Body.Close()
	_ = send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
	stream := send(http.MethodGet, "")
	defer stream.Body.Close()
	swap, err := os.ReadFile(filepath.Join(tr.dir, "swap.json"))
	if err != nil {
		t.Fatal(err)
	}
	call := send(http.MethodPost, callOf(2, "batch_operations", fmt.Sprintf(`{"pipeline_json":%s}`, swap)))
	defer call.Body.Close()
	begin := time.Now()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	answer, err := io.ReadAll(call.Body)
	if err != nil {
		t.Errorf("the answer: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end is %v", err)
	}
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("the server lingers for %v", took)
	}
	tr.answeredTo(string(answer))
	tr.clean()
}

package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// methods are the methods of the protocol, and two unknown methods.
var methods = []string{
	"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
	"server/discover", "notifications/initialized", "notifications/cancelled", "notifications/progress",
	"notifications/roots/list_changed", "no/such", "",
}

// params are parameters that no method accepts unchanged. %s is a text in each field that a method has.
var params = map[string]string{
	"none": ``, "null": `null`, "a list": `[]`, "a text": `"x"`, "a number": `1e999`, "true": `true`, "an empty object": `{}`,
	"control characters":      fields(`"\u0000\u0001\u001b\u007f\n"`),
	"a URI with a control":    fields(`"millrace://plans/\u0007"`),
	"a diff with a control":   fields(`"millrace://plans/\u0007\u009b/diff"`),
	"a backup of a control":   fields(`"millrace://backups/\u0007\u009b/diff"`),
	"no scheme":               fields(`"\u0001"`),
	"half a pair":             fields(`"millrace://plans/\ud800"`),
	"objects":                 fields(`{}`),
	"lists":                   fields(`[]`),
	"numbers":                 fields(`-1e308`),
	"a long text":             fields(`"` + strings.Repeat("x", 1<<20) + `"`),
	"fields twice":            `{"uri":1,"uri":"x","name":[],"name":"fs_read","arguments":{},"arguments":[]}`,
	"fields in other letters": `{"URI":"\u0001","Name":"fs_read","ARGUMENTS":[]}`,
	"nested a little":         fields(strings.Repeat(`[`, 900) + strings.Repeat(`]`, 900)),
	"nested too much":         fields(strings.Repeat(`{"a":`, 2_000) + `1` + strings.Repeat(`}`, 2_000)),
	"nested far too much":     fields(strings.Repeat(`[`, 200_000) + strings.Repeat(`]`, 200_000)),
	"no UTF-8":                fields("\"millrace://\xff\xfe\""),
}

// fields are parameters with a value in every field that a method has.
func fields(v string) string {
	var b strings.Builder
	b.WriteString(`{"_meta":{"progressToken":` + v + `}`)
	for _, name := range []string{
		"uri", "name", "arguments", "cursor", "ref", "argument", "level", "requestId", "progressToken", "progress", "protocolVersion",
		"capabilities", "clientInfo", "requestState", "inputResponses", "reason",
	} {
		fmt.Fprintf(&b, `,%q:%s`, name, v)
	}
	return b.String() + `}`
}

// noMessages are lines that are not messages, with the error code of the answer to each.
var noMessages = map[string]struct {
	line string
	code int
}{
	"no JSON":               {`hello`, -32700},
	"half an object":        {`{"jsonrpc":"2.0","id":1,`, -32700},
	"two objects":           {`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700},
	"zero bytes":            {"\x00\x00\x00", -32700},
	"no UTF-8":              {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", -32700},
	"17 MiB":                {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`, -32700},
	"nested deeper":         {strings.Repeat(`[`, 1_001) + strings.Repeat(`]`, 1_001), -32700},
	"unbalanced":            {strings.Repeat(`[`, 100_000), -32700},
	"an empty object":       {`{}`, -32600},
	"no version":            {`{"id":1,"method":"ping"}`, -32600},
	"another version":       {`{"jsonrpc":"3.0","id":1,"method":"ping"}`, -32600},
	"a number":              {`5`, -32600},
	"a text":                {`"x"`, -32600},
	"null":                  {`null`, -32600},
	"an empty list":         {`[]`, -32600},
	"a list of lists":       {`[[]]`, -32600},
	"an id twice":           {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600},
	"an object as id":       {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600},
	"a broken number as id": {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600},
	"a large number as id":  {`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, -32600},
	"a method of a number":  {`{"jsonrpc":"2.0","id":1,"method":5}`, -32600},
	"no method":             {`{"jsonrpc":"2.0"}`, -32600},
}

// goodCall is a call that a running server answers.
const goodCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fs_read","arguments":{"mode":"Directory","path":"."}}}`

// door is a way to access a server, on the level of its messages.
type door interface {
	// send sends a possible message, without waiting for the result.
	send(text string)
	// refused sends a malformed message, and returns the error code of the answer.
	refused(text string) int
	// answer sends a call with an id, and returns the answer.
	answer(id int, text string) string
}

// alive fails the test if the server does not answer a good call.
func alive(t testing.TB, d door, id int, after string) {
	t.Helper()
	if got := d.answer(id, fmt.Sprintf(goodCall, id)); !strings.Contains(got, `"content"`) ||
		strings.Contains(got, `"isError":true`) {
		t.Fatalf("after %.200s the server answers a good call with %.500s", after, got)
	}
}

// No input ends a server or makes it lose its plans.
func TestHostile(t *testing.T) {
	for name, open := range doors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, tree(t, "-- src/a.txt --\nrecieve\n"))
			planned := d.answer(1_000, `{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{"name":"plan_pipeline","arguments":{"pipeline_json":`+fixTypo+`}}}`)
			_, rest, ok := strings.Cut(planned, `plan_id: `)
			if !ok {
				t.Fatalf("there is no plan: %s", planned)
			}
			plan, _, _ := strings.Cut(rest, `\n`)
			id := 1_001
			for what, c := range noMessages {
				if code := d.refused(c.line); code != c.code {
					t.Errorf("%s: the code is %d, not %d", what, code, c.code)
				}
				alive(t, d, id, what)
				id++
			}
			for _, method := range methods {
				for what, p := range params {
					text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q`, id, method)
					if strings.HasPrefix(method, "notifications/") {
						text = fmt.Sprintf(`{"jsonrpc":"2.0","method":%q`, method)
					}
					if p != "" {
						text += `,"params":` + p
					}
					d.send(text + `}`)
					alive(t, d, id+1, method+" with "+what)
					id += 2
				}
			}
			shown := d.answer(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"millrace://plans/%s"}}`, id, plan))
			if !strings.Contains(shown, plan) || strings.Contains(shown, `"error"`) {
				t.Errorf("the plan is lost: %s", shown)
			}
		})
	}
}

// A URI that is not JSON when Go quotes it is returned unchanged in the error.
func TestHostile_uri(t *testing.T) {
	for name, open := range doors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, t.TempDir())
			got := d.answer(7, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"millrace://plans/a\u0007\u009b"}}`)
			var m struct {
				Error struct {
					Code int
					Data struct{ URI string }
				}
			}
			if err := json.Unmarshal([]byte(got), &m); err != nil || m.Error.Code != -32602 ||
				m.Error.Data.URI != "millrace://plans/a\a\u009b" {
				t.Errorf("%v: the answer is %s", err, got)
			}
		})
	}
}

// Calls in a list are answered in a list, and notifications in it are not answered.
func TestStdio_list(t *testing.T) {
	d := openStdio(t, t.TempDir()).(*stdioDoor)
	d.send(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`)
	got := d.until(func(text string) bool { return strings.HasPrefix(text, "[") })
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(got), &list); err != nil || len(list) != 2 {
		t.Fatalf("%v: the answer is %s", err, got)
	}
	alive(t, d, 9, "a list")
}

func doors() map[string]func(testing.TB, string) door {
	return map[string]func(testing.TB, string) door{"stdio": openStdio, "http": openHTTP}
}

// stdioDoor accesses a server in another process.
type stdioDoor struct {
	t   testing.TB
	in  io.Writer
	out chan string
}

func openStdio(t testing.TB, dir string) door {
	t.Helper()
	cmd := process(t, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &stdioDoor{t: t, in: in, out: make(chan string, 1_000)}
	go func() {
		defer close(d.out)
		r := bufio.NewReader(out)
		for {
			text, err := r.ReadString('\n')
			if err != nil {
				return
			}
			d.out <- text
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		for range d.out { // until its end
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the end of the process: %v", err)
		}
	})
	d.answer(1, ping)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return d
}

func (d *stdioDoor) send(text string) {
	if _, err := io.WriteString(d.in, text+"\n"); err != nil {
		d.t.Fatalf("after %.200s the server stops reading: %v", text, err)
	}
}

// until returns the first matching line.
func (d *stdioDoor) until(meant func(string) bool) string {
	d.t.Helper()
	end := time.After(30 * time.Second)
	for {
		select {
		case text, ok := <-d.out:
			if !ok {
				d.t.Fatal("the server has ended")
			}
			if meant(text) {
				return text
			}
		case <-end:
			d.t.Fatal("there is no answer")
		}
	}
}

func (d *stdioDoor) answer(id int, text string) string {
	d.t.Helper()
	d.send(text)
	return d.until(func(text string) bool {
		var m struct{ ID any }
		return json.Unmarshal([]byte(text), &m) == nil && m.ID == float64(id)
	})
}

func (d *stdioDoor) refused(text string) int {
	d.t.Helper()
	d.send(text)
	return codeIn(d.t, d.until(func(text string) bool { return strings.Contains(text, `"error"`) }))
}

func codeIn(t testing.TB, text string) int {
	t.Helper()
	var m struct{ Error struct{ Code int } }
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Errorf("%v: the answer is %s", err, text)
	}
	return m.Error.Code
}

// httpDoor is a session over HTTP with a server in this process, which a panic would end.
type httpDoor struct {
	t            testing.TB
	url, session string
}

func openHTTP(t testing.TB, dir string) door {
	t.Helper()
	s := newServerOf(t, dir)
	server := httptest.NewServer(s.Handler(token))
	t.Cleanup(server.Close)
	d := &httpDoor{t: t, url: server.URL + "/mcp"}
	res, _ := d.post(ping)
	d.session = res.Header.Get("Mcp-Session-Id")
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return d
}

// post returns the answer, and its body without the wrapping of events.
func (d *httpDoor) post(text string) (*http.Response, string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	if d.session != "" {
		req.Header.Set("Mcp-Session-Id", d.session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatalf("after %.200s: %v", text, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatalf("after %.200s: %v", text, err)
	}
	for l := range strings.SplitSeq(string(body), "\n") {
		if data, ok := strings.CutPrefix(l, "data: "); ok && data != "" {
			return res, data
		}
	}
	return res, string(body)
}

func (d *httpDoor) send(text string) {
	d.t.Helper()
	d.post(text)
}

func (d *httpDoor) answer(_ int, text string) string {
	d.t.Helper()
	_, body := d.post(text)
	return body
}

func (d *httpDoor) refused(text string) int {
	d.t.Helper()
	res, body := d.post(text)
	if res.StatusCode == http.StatusRequestEntityTooLarge {
		return -32700
	}
	if res.StatusCode != http.StatusBadRequest {
		d.t.Errorf("%.200s: the status is %d", text, res.StatusCode)
	}
	return codeIn(d.t, body)
}

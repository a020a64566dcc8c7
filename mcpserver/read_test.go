package mcpserver_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
)

// read is one object of an answer of fs_read.
type read struct {
	Path         string `json:"path"`
	Success      bool   `json:"success"`
	Content      string `json:"content"`
	ContentHash  string `json:"content_hash"`
	LastModified string `json:"last_modified"`
	Truncated    bool   `json:"truncated"`
	NextLine     int    `json:"next_start_line"`
	Error        string `json:"error"`
}

// first returns the first text of an answer as a value.
func first[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	text := r.raw.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// entry returns the only entry of an answer of fs_read.
func entry(t testing.TB, r reply) read {
	t.Helper()
	var e read
	if err := json.Unmarshal([]byte(quote(r.data)), &e); err != nil {
		t.Fatalf("%v in %v", err, r.data)
	}
	return e
}

// entries returns the entries of an answer of fs_read, which are also in the text, except the contents.
func entries(t testing.TB, r reply) []read {
	t.Helper()
	var list []read
	if err := json.Unmarshal([]byte(quote(r.data["files"])), &list); err != nil {
		t.Fatalf("%v in %v", err, r.data)
	}
	var heads []read
	text := r.raw.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &heads); err != nil || len(heads) != len(list) {
		t.Fatalf("%v: %d entries in %s", err, len(list), text)
	}
	for i := range list {
		head := list[i]
		if head.Content = ""; head != heads[i] {
			t.Errorf("the text has %+v, the data %+v", heads[i], list[i])
		}
	}
	return list
}

func TestReadLines(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\nthree\n-- sub/b.txt --\nb\n", nil)
	for name, path := range map[string]string{"relative": "a.txt", "absolute": filepath.Join(c.dir, "a.txt"),
		"dotted": "./sub/../a.txt"} {
		t.Run(name, func(t *testing.T) {
			r := c.good("fs_read", `{"mode":"Line","path":`+quote(path)+`,"start_line":2,"end_line":-1}`)
			got := entry(t, r)
			if got.Path != path || !got.Success || got.Content != "two\nthree\n" || len(got.ContentHash) != 64 ||
				!strings.HasSuffix(got.LastModified, "Z") {
				t.Errorf("the answer is %+v", got)
			}
			if want := "2\ttwo\n3\tthree\n"; r.raw.Content[1].(*mcp.TextContent).Text != want {
				t.Errorf("the text is %q", r.text)
			}
		})
	}
	list := entries(t, c.good("fs_read", `{"mode":"Line","paths":["a.txt","nope.txt","sub/b.txt"]}`))
	if len(list) != 3 || list[0].Content != "one\ntwo\nthree\n" || list[1].Success || list[1].Error != "File not found" ||
		list[2].Content != "b\n" {
		t.Errorf("the list is %+v", list)
	}
	c.bad("fs_read", `{"mode":"Line","path":"nope.txt"}`, `"error":"File not found"`)
	c.bad("fs_read", `{"mode":"Line","path":"/etc/passwd"}`, "escapes")
	c.bad("fs_read", `{"mode":"Line","path":"../x"}`, "escapes")
	c.bad("fs_read", `{"mode":"Line"}`, "one of 'path' and 'paths' is required")
	c.bad("fs_read", `{"mode":"Columns","path":"a.txt"}`, "/mode: unsupported 'mode' 'Columns'", "use 'Line'")
	c.bad("fs_read", `{"mode":"Line","pat":"a.txt","path":"a.txt"}`, "/pat: unknown parameter 'pat' (did you mean 'path'?)")
	c.bad("fs_read", `{"mode":"Line","path":"a.txt","path":"a.txt"}`, "'path' is given twice")
	c.bad("fs_read", `{"mode":"Line","path":"a.txt","start_line":"1","depth":1.5}`,
		"2 problems", "/start_line: 'start_line' must be a whole number, not a string", "/depth: 'depth' must be a whole number, not a number")
	c.bad("fs_read", `{"mode":"Line","path":"a.txt","pattern":"x"}`, "/pattern: 'pattern' is for the mode Search")
	c.bad("fs_read", `{"mode":"Line","path":null}`, "/path: 'path' must be a string, not null")
	c.bad("fs_read", `{"mode":"Line","paths":["a.txt",7]}`, "/paths/1: 'paths/1' must be a string, not a whole number")
}

func TestReadHome(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\n", nil)
	t.Setenv("HOME", c.dir)
	if got := entry(t, c.good("fs_read", `{"mode":"Line","path":"~/a.txt"}`)); got.Path != "~/a.txt" ||
		got.Content != "one\n" {
		t.Errorf("the answer is %+v", got)
	}
	t.Setenv("HOME", filepath.Dir(c.dir))
	c.bad("fs_read", `{"mode":"Line","path":"~/a.txt"}`, "escapes")
}

// A long file is cut at a line, and the rest can be read from that line.
func TestReadTooLong(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 20_000; i++ {
		fmt.Fprintf(&b, "line %d \"quoted\"\n", i)
	}
	c := serve(t, mcpserver.Config{}, "-- long.txt --\n"+b.String()+"-- wide.txt\\n --\n"+strings.Repeat("é", 100_000)+
		"\n-- first.txt --\n"+strings.Repeat("x", 50_000)+"\nsecond\n", nil)
	var all strings.Builder
	for next, calls := 1, 0; next > 0; calls++ {
		r := c.good("fs_read", fmt.Sprintf(`{"mode":"Line","path":"long.txt","start_line":%d}`, next))
		if n := len(r.raw.Content[0].(*mcp.TextContent).Text); n > mcpserver.DefaultMaxResult {
			t.Fatalf("the answer has %d bytes", n)
		}
		got := entry(t, r)
		all.WriteString(got.Content)
		if got.Truncated != (got.NextLine > 0) || calls > 100 {
			t.Fatalf("call %d: truncated is %v, next line %d", calls, got.Truncated, got.NextLine)
		}
		next = got.NextLine
	}
	if all.String() != b.String() {
		t.Error("the parts are not the whole file")
	}
	r := c.good("fs_read", `{"mode":"Line","path":"wide.txt"}`)
	if got := entry(t, r); !got.Truncated || !strings.HasPrefix(got.Content, "éé") ||
		strings.Contains(got.Content, "\ufffd") {
		t.Errorf("%d bytes, truncated %v", len(got.Content), got.Truncated)
	}
	// A line too long for any answer is not returned again and again.
	for name, next := range map[string]int{"wide.txt": 0, "first.txt": 2} {
		r := c.good("fs_read", `{"mode":"Line","path":`+quote(name)+`,"start_line":1}`)
		if got := entry(t, r); !got.Truncated || got.NextLine != next {
			t.Errorf("%s: truncated %v, next line %d, want %d", name, got.Truncated, got.NextLine, next)
		}
	}
	r = c.good("fs_read", `{"mode":"Search","path":".","pattern":"LINE"}`)
	if n := len(r.text); n > mcpserver.DefaultMaxResult {
		t.Errorf("the answer has %d bytes", n)
	}
}

func TestReadDirectory(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\n-- sub/b.txt --\nb\n", nil)
	got := entry(t, c.good("fs_read", `{"mode":"Directory","path":".","depth":2}`))
	if !got.Success || !strings.Contains(got.Content, "a.txt\n") || !strings.Contains(got.Content, "sub/b.txt\n") ||
		strings.Contains(got.Content, ".millrace") {
		t.Errorf("the answer is %+v", got)
	}
	list := entries(t, c.good("fs_read", `{"mode":"Directory","paths":["sub","nope"]}`))
	if len(list) != 2 || !list[0].Success || list[1].Success || list[1].Error == "" {
		t.Errorf("the list is %+v", list)
	}
	c.bad("fs_read", `{"mode":"Directory","path":"nope"}`, "nope")
}

func TestReadSearch(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\n1\n2\n3\nTwo (x)\n5\n6\n7\n-- sub/b.txt --\ntwo (X)\n", nil)
	r := c.good("fs_read", `{"mode":"Search","path":"a.txt","pattern":"two (x)"}`)
	has(t, r.text, "was read as a text")
	got := entry(t, r)
	if want := "Line 2- 2\nLine 3- 3\nLine 4: Two (x)\nLine 5- 5\nLine 6- 6\n"; got.Content != want ||
		got.Path != "a.txt" {
		t.Errorf("the answer is %+v", got)
	}
	got = entry(t, c.good("fs_read", `{"mode":"Search","path":".","pattern":"two (x)","context_lines":0}`))
	if want := "a.txt\nLine 4: Two (x)\n\nsub/b.txt\nLine 1: two (X)\n"; got.Content != want || got.Path != "." {
		t.Errorf("the answer is %+v", got)
	}
	if got := entry(t, c.good("fs_read", `{"mode":"Search","path":"a.txt","pattern":"nope"}`)); !got.Success ||
		got.Content != "" {
		t.Errorf("the answer is %+v", got)
	}
	c.bad("fs_read", `{"mode":"Search","path":"a.txt"}`, "'pattern' is required for Search")
}

// A search can be narrowed to some files, to some matches, and to names and numbers.
func TestReadSearch_narrow(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.go --\nx 1\nx 2\n-- b.txt --\nx\n", nil)
	for args, want := range map[string]string{
		`"context_lines":0,"include":["*.go"]`: "a.go\nLine 1: x 1\nLine 2: x 2\n",
		`"context_lines":0,"limit":1`:          "a.go\nLine 1: x 1\n",
		`"output":"files"`:                     "a.go\nb.txt\n",
		`"output":"files","limit":1`:           "a.go\n",
		`"output":"count"`:                     "2 a.go\n1 b.txt\n",
	} {
		got := entry(t, c.good("fs_read", `{"mode":"Search","path":".","pattern":"x",`+args+`}`))
		if got.Content != want || got.Truncated != strings.Contains(args, "limit") {
			t.Errorf("%s: the answer is %+v", args, got)
		}
	}
}

func TestReadImage(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes()) + "\n"
	c := serve(t, mcpserver.Config{Executor: millrace.Executor{DeniedPaths: []string{"secret.png"}}},
		"-- a.png base64 --\n"+text+"-- secret.png base64 --\n"+text+"-- a.txt --\ntext\n", nil)
	r := c.good("fs_read", `{"mode":"Image","path":"a.png"}`)
	img, ok := r.raw.Content[1].(*mcp.ImageContent)
	if !ok || img.MIMEType != "image/png" || !bytes.Equal(img.Data, b.Bytes()) {
		t.Errorf("the answer is %v", r.raw.Content)
	}
	r = c.good("fs_read", `{"mode":"Image","image_paths":["a.png"]}`)
	if _, ok := r.raw.Content[1].(*mcp.ImageContent); !ok {
		t.Errorf("the answer is %v", r.raw.Content)
	}
	c.bad("fs_read", `{"mode":"Line","image_paths":["a.png"]}`, "/image_paths: 'image_paths' is for the mode Image")
	c.bad("fs_read", `{"mode":"Image","image_paths":["a.png"],"path":"a.png"}`, "cannot both be given")
	c.bad("fs_read", `{"mode":"Image","path":"secret.png"}`, "denied")
	c.bad("fs_read", `{"mode":"Image","path":"a.txt"}`, "not an image")
	r = c.good("fs_read", `{"mode":"Image","paths":["a.png","none.png","a.png"]}`)
	if list := entries(t, r); len(list) != 3 || !list[0].Success || list[1].Error != "File not found" ||
		!list[2].Success || len(r.raw.Content) != 3 {
		t.Errorf("the answer is %v", r.raw.Content)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "big.png"), make([]byte, 5<<20+1), 0o644); err != nil {
		t.Fatal(err)
	}
	c.bad("fs_read", `{"mode":"Image","path":"big.png"}`, "5242881 bytes")
}

// A file that is not UTF-8 is not shown with other bytes, and its lines cannot be replaced by such a text.
func TestNotUTF8(t *testing.T) {
	const latin = "-- a.txt --\none\ncaf\xe9\nthree\n"
	c := serve(t, mcpserver.Config{}, latin, nil)
	c.bad("fs_read", `{"mode":"Line","path":"a.txt"}`, "not UTF-8", "line 2")
	if got := entry(t, c.good("fs_read", `{"mode":"Line","path":"a.txt","start_line":3}`)); got.Content != "three\n" {
		t.Errorf("the answer is %+v", got)
	}
	c.bad("fs_write", `{"command":"replace_lines","path":"a.txt","start_line":1,"end_line":2,"new_str":"ONE\ncaf\ufffd\n"}`, "not UTF-8")
	c.holds(latin)
	c.good("fs_write", `{"command":"replace_lines","path":"a.txt","start_line":3,"end_line":3,"new_str":"\ufffd"}`)
	c.holds("-- a.txt\\n --\none\ncaf\xe9\n\ufffd\n")
}

// A whole number is accepted in any notation, in arguments of tools as in parameters of actions.
func TestWholeNumbers(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\n1\n2\n3\n", nil)
	if got := entry(t, c.good("fs_read", `{"mode":"Line","path":"a.txt","start_line":2.0,"end_line":2e0}`)); got.Content != "2\n" {
		t.Errorf("the answer is %+v", got)
	}
	c.bad("fs_read", `{"mode":"Line","path":"a.txt","start_line":1.5}`, "must be a whole number")
	c.good("fs_write", `{"command":"replace_lines","fileEdits":[{"path":"a.txt","edits":[{"command":"replace_lines","start_line":2.0,"end_line":2.0,"new_str":"two\n"}]}]}`)
	c.good("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"r","action":"read_ranges","params":{"files":["a.txt"],"start_line":2.0}}]}}`)
	c.holds("-- a.txt --\n1\ntwo\n3\n")
}

package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/millracetest"
)

const token = "a token that is long enough"

// bearer adds the token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func newServer(t testing.TB, files string) (*mcpserver.Server, string) {
	t.Helper()
	dir := tree(t, files)
	return newServerOf(t, dir), dir
}

func newServerOf(t testing.TB, dir string) *mcpserver.Server {
	t.Helper()
	s, err := mcpserver.New(mcpserver.Config{Root: dir, Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: make([]byte, 32)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func TestHTTPRefuses(t *testing.T) {
	s, _ := newServer(t, "")
	server := httptest.NewServer(s.Handler(token))
	defer server.Close()
	for name, c := range map[string]struct {
		host, origin, site, token, kind, path, body string
		status                                      int
	}{
		"good":            {token: token, status: 200},
		"localhost":       {token: token, host: "localhost", status: 200},
		"no token":        {status: 401},
		"wrong token":     {token: token + "x", status: 401},
		"foreign host":    {token: token, host: "evil.example", status: 403},
		"rebound host":    {host: "evil.example:80", status: 403},
		"foreign origin":  {token: token, origin: "https://evil.example", status: 403},
		"cross site":      {token: token, site: "cross-site", status: 403},
		"text":            {token: token, kind: "text/plain", status: 415},
		"other path":      {token: token, path: "/", status: 404},
		"too long a body": {token: token, body: strings.Repeat(" ", 16<<20) + ping, status: 413},
	} {
		t.Run(name, func(t *testing.T) {
			path, kind, body := "/mcp", "application/json", ping
			if c.path != "" {
				path = c.path
			}
			if c.kind != "" {
				kind = c.kind
			}
			if c.body != "" {
				body = c.body
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", kind)
			req.Header.Set("Accept", "application/json, text/event-stream")
			if c.host != "" {
				req.Host = c.host
			}
			for name, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
				if v != "" {
					req.Header.Set(name, v)
				}
			}
			if c.token != "" {
				req.Header.Set("Authorization", "Bearer "+c.token)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != c.status {
				t.Errorf("the status is %d, not %d", res.StatusCode, c.status)
			}
			if c.status == 401 && res.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("the answer does not request a token")
			}
		})
	}
}

// A page of another origin cannot open a stream either, and a client without the token cannot keep a connection.
func TestHTTPRefuses_get(t *testing.T) {
	s, _ := newServer(t, "")
	server := httptest.NewServer(s.Handler(token))
	defer server.Close()
	for name, c := range map[string]struct {
		method, origin, site, token string
		status                      int
	}{
		"foreign origin":         {http.MethodGet, "https://evil.example", "", token, 403},
		"foreign origin, head":   {http.MethodHead, "https://evil.example", "", token, 403},
		"foreign origin, delete": {http.MethodDelete, "https://evil.example", "", token, 403},
		"null origin":            {http.MethodGet, "null", "", token, 403},
		"cross site":             {http.MethodGet, "", "cross-site", token, 403},
		"same site":              {http.MethodGet, "", "same-site", token, 403},
		"no token":               {http.MethodGet, "", "", "", 401},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		for header, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site, "Authorization": c.token} {
			if v != "" {
				req.Header.Set(header, v)
			}
		}
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: the status is %d, not %d", name, res.StatusCode, c.status)
		}
		if c.status == 401 && !res.Close {
			t.Errorf("%s: the connection stays open", name)
		}
	}
}

// A client of the newest protocol has no session, a client of an older protocol has a session. Both can make calls and
// receive questions.
func TestHTTPCalls(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			s, dir := newServer(t, many(60))
			server := httptest.NewServer(s.Handler(token))
			defer server.Close()
			p := &person{action: "accept", approve: true}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, p.options()).Connect(t.Context(),
				&mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}},
				&mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("the version is %s", got)
			}
			res, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"mode": "Line", "path": "f000.txt"}})
			if err != nil || res.IsError {
				t.Fatal(err, res)
			}
			res, err = session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "batch_operations", Arguments: map[string]any{"pipeline_json": fixAll}})
			if err != nil || res.IsError {
				t.Fatal(err, res)
			}
			if len(p.asked) != 1 {
				t.Errorf("the person was asked %d times", len(p.asked))
			}
			millracetest.Equal(t, disk(dir), fixed(many(60)))
		})
	}
}

func TestServeHTTP(t *testing.T) {
	s, _ := newServer(t, "")
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
		if err := s.ServeHTTP(t.Context(), addr, token, nil); err == nil {
			t.Errorf("%s was listened on", addr)
		} else if addr != "127.0.0.1" && !errors.Is(err, mcpserver.ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if err := s.ServeHTTP(t.Context(), "127.0.0.1:0", "", nil); err == nil {
		t.Error("no token is needed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done, ready := make(chan error, 1), make(chan net.Addr, 1)
	go func() { done <- s.ServeHTTP(ctx, "127.0.0.1:0", token, func(a net.Addr) { ready <- a }) }()
	addr := <-ready
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: "http://" + addr.String() + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		t.Error(err)
	}
	_ = session.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the end is %v", err)
	}
}

// An unknown method is an error of the protocol, as over stdin, in every version.
func TestHTTPUnknownMethod(t *testing.T) {
	s, _ := newServer(t, "")
	server := httptest.NewServer(s.Handler(token))
	defer server.Close()
	for version, status := range map[string]int{"": 200, "2025-06-18": 200, "2026-07-28": 404} {
		for _, method := range []string{"no/such", "tools/none", "x"} {
			body := `{"jsonrpc":"2.0","id":7,"method":` + quote(method) +
				`,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
			if version != "2026-07-28" {
				body = `{"jsonrpc":"2.0","id":7,"method":` + quote(method) + `}`
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token, "MCP-Protocol-Version": version,
			} {
				req.Header.Set(name, v)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			var m struct {
				ID    int `json:"id"`
				Error struct {
					Code int `json:"code"`
				} `json:"error"`
			}
			if err != nil || json.Unmarshal(text, &m) != nil || m.Error.Code != -32601 || m.ID != 7 || res.StatusCode != status {
				t.Errorf("version %q, method %q: status %d, %s", version, method, res.StatusCode, text)
			}
		}
	}
}

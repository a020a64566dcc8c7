package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// mcp --http prints its address and, without a token from the user, a new token. It ends with its context.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, given := range map[string]string{"random": "", "environment": "a-token-of-the-environment"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			r, w := io.Pipe()
			app := &cli.App{
				Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: w, Dir: t.TempDir(),
				Getenv: func(name string) string {
					if name == "MILLRACE_MCP_TOKEN" {
						return given
					}
					return ""
				},
			}
			status := make(chan int, 1)
			go func() {
				status <- app.Run(ctx, []string{"mcp", "--http", "127.0.0.1:0"})
				_ = w.Close()
			}()
			said := regexp.MustCompile(`(?:the token is (\S+)|at (http://127\.0\.0\.1:\d+/mcp))`)
			token, url := given, ""
			lines := bufio.NewScanner(r)
			for url == "" && lines.Scan() {
				if m := said.FindStringSubmatch(lines.Text()); m != nil {
					token, url = token+m[1], m[2]
				}
			}
			if given != "" && token != given || len(token) < 16 {
				t.Errorf("the token is %q", token)
			}
			go func() { _, _ = io.Copy(io.Discard, r) }()
			for auth, want := range map[string]int{"Bearer " + token: http.StatusOK, "": http.StatusUnauthorized} {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				req.Header.Set("Authorization", auth)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if res.StatusCode != want {
					t.Errorf("the status is %d, not %d", res.StatusCode, want)
				}
			}
			cancel()
			if got := <-status; got != 0 {
				t.Errorf("the exit status is %d", got)
			}
		})
	}
}

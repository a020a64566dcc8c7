package loopback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/mcpserver/loopback"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(loopback.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		loopback.Unhurried(w)
	})))
	defer server.Close()
	for name, c := range map[string]struct {
		host, header, value string
		status              int
	}{
		"good":          {status: 200},
		"by name":       {host: "localhost:80", status: 200},
		"IPv6":          {host: "[::1]", status: 200},
		"rebound":       {host: "evil.example", status: 403},
		"other origin":  {header: "Origin", value: "https://evil.example", status: 403},
		"opened by URL": {header: "Sec-Fetch-Site", value: "none", status: 200},
		"other site":    {header: "Sec-Fetch-Site", value: "cross-site", status: 403},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			if c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != c.status {
				t.Errorf("%s by %s: the status is %d, not %d", name, method, res.StatusCode, c.status)
			}
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	if !loopback.Same("secret", "secret") || loopback.Same("secre", "secret") || loopback.Same("", "secret") {
		t.Error("the comparison of secrets is wrong")
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "[::]:0"} {
		if _, err := loopback.Listen(t.Context(), addr); !errors.Is(err, loopback.ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:http:80", "127.0.0.1:99999"} {
		if _, err := loopback.Listen(t.Context(), addr); err == nil {
			t.Errorf("%s is listened on", addr)
		}
	}
}

// A POST request in progress ends before the server does, and a stream ends with the server.
func TestServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := loopback.Listen(ctx, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, ended := make(chan string, 2), make(chan error, 1)
	go func() {
		ended <- loopback.Serve(ctx, l, context.WithoutCancel(ctx), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- r.Method
			if r.Method == http.MethodGet {
				<-r.Context().Done()
				return
			}
			<-ctx.Done()
			_, _ = io.WriteString(w, "answered")
		}), time.Minute)
	}()
	answers := make(chan string, 2)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		go func() {
			r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, "http://"+l.Addr().String(), nil)
			if err != nil {
				answers <- err.Error()
				return
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				answers <- err.Error()
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				text = []byte(err.Error())
			}
			answers <- string(text)
		}()
	}
	<-begun
	<-begun
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := <-answers + <-answers; got != "answered" {
		t.Errorf("the answers are %q", got)
	}
}

package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver/loopback"
)

// statelessVersion is the first version of the protocol without sessions. The SDK supports it only in stateless
// handlers, and clients of older versions can be asked a question only in a session.
const statelessVersion = "2026-07-28"

// sessionTimeout ends idle sessions.
const sessionTimeout = time.Hour

// Handler serves the protocol over HTTP at the path /mcp. Requests need the token as "Authorization: Bearer TOKEN"; ""
// is for programs that check access themselves. It answers 403 to pages of other origins, and to requests that reached
// a loopback address by another host's name.
func (s *Server) Handler(token string) http.Handler {
	server := func(*http.Request) *mcp.Server { return s.mcp }
	stateful := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: s.cfg.Logger, SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxMessage,
	})
	stateless := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: s.cfg.Logger, Stateless: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("MCP-Protocol-Version") >= statelessVersion {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	})
	// The SDK checks for rebound names only after the token. Checked first, as here, a page learns nothing about the
	// token.
	return loopback.Guard(authorized(token, vetted(mux)))
}

// authorized lets requests with the token through.
func authorized(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || !loopback.Same(strings.TrimSpace(given), token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close") // a client without the token cannot keep a connection
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// vetted answers malformed messages, as ServeStdio does. The SDK mistakes some of these for others, and ends the
// session for some.
func vetted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		var long *http.MaxBytesError
		switch {
		case errors.As(err, &long):
			answerBad(w, http.StatusRequestEntityTooLarge, tooLong())
			return
		case err != nil:
			http.Error(w, "the message did not come whole", http.StatusBadRequest)
			return
		}
		list, _, bad := messages(bytes.TrimSpace(body))
		if bad != nil {
			answerBad(w, http.StatusBadRequest, bad)
			return
		}
		if bad := unknownMethod(list); bad != nil && r.Header.Get("MCP-Protocol-Version") < statelessVersion {
			w = &refusing{ResponseWriter: w, bad: bad}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		loopback.Unhurried(w)
		next.ServeHTTP(w, r)
	})
}

func answerBad(w http.ResponseWriter, status int, bad *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bad.encode()) // a client that has disconnected does not need the answer
}

// ErrNotLoopback reports a listen address that other machines can reach.
var ErrNotLoopback = loopback.ErrNotLoopback

// ServeHTTP listens on a loopback address such as "127.0.0.1:8080" until ctx is done, and then returns nil. A token is
// required. Once it listens, it calls ready with the address, which has the port that the system chose for port 0.
func (s *Server) ServeHTTP(ctx context.Context, addr, token string, ready func(net.Addr)) error {
	if token == "" {
		return errors.New("mcpserver: a token is needed to listen")
	}
	l, err := loopback.Listen(ctx, addr)
	if err != nil {
		return fmt.Errorf("mcpserver: %w", err)
	}
	if ready != nil {
		ready(l.Addr())
	}
	defer s.calls.Wait()
	if err := loopback.Serve(ctx, l, stopping(ctx), s.Handler(token), drainTimeout); err != nil {
		return fmt.Errorf("mcpserver: %w", err)
	}
	return nil
}

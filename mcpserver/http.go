package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// statelessVersion is the first version of the protocol without sessions. The SDK takes it in stateless handlers alone, and
// clients of older versions need a session to be asked something.
const statelessVersion = "2026-07-28"

// The bounds of the server of ServeHTTP.
const (
	readHeaderTimeout = 10 * time.Second
	sessionTimeout    = time.Hour
	shutdownTimeout   = 5 * time.Second
)

// Handler serves the protocol over HTTP at the path /mcp. Requests need the token as "Authorization: Bearer TOKEN"; "" is
// for programs that check access themselves. Pages of other origins, and requests that have come to a loopback address by
// another host's name, are refused with 403.
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
	// The check of the SDK for names that were rebound stands behind that of the token. Here a page learns nothing either way.
	return http.NewCrossOriginProtection().Handler(local(authorized(token, vetted(mux))))
}

// authorized lets requests with the token through.
func authorized(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local refuses requests that have come to a loopback address by a name that is none of it: a page whose name was bound
// to this machine.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(addr.String()) && !loopback(r.Host) {
			http.Error(w, "the host is not this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// vetted answers a message that is not one, as on stdin. The SDK takes some of these for others, and for some it ends the
// session.
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
		if _, _, bad := messages(bytes.TrimSpace(body)); bad != nil {
			answerBad(w, http.StatusBadRequest, bad)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func answerBad(w http.ResponseWriter, status int, bad *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bad.encode()) // a client that has gone has no use for it
}

// loopback reports whether an address or a host, with or without a port, is this machine's own.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ErrNotLoopback says that an address to listen on is not one of this machine alone.
var ErrNotLoopback = errors.New("not a loopback address: use 127.0.0.1, [::1] or localhost")

// ServeHTTP listens on a loopback address such as "127.0.0.1:8080" until ctx is done, and returns nil then. A token is
// needed. When it listens, ready is called with the address, which has the port that the system has chosen for port 0.
func (s *Server) ServeHTTP(ctx context.Context, addr, token string, ready func(net.Addr)) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return fmt.Errorf("mcpserver: %w", err)
	case host == "" || !loopback(host):
		return fmt.Errorf("mcpserver: %s: %w", addr, ErrNotLoopback)
	case token == "":
		return errors.New("mcpserver: a token is needed to listen")
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("mcpserver: %w", err)
	}
	if !loopback(l.Addr().String()) {
		_ = l.Close()
		return fmt.Errorf("mcpserver: %s: %w", l.Addr(), ErrNotLoopback)
	}
	if ready != nil {
		ready(l.Addr())
	}
	server := &http.Server{Handler: s.Handler(token), ReadHeaderTimeout: readHeaderTimeout}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(end) != nil {
			_ = server.Close()
		}
	})
	defer s.calls.Wait()
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("mcpserver: %w", err)
	}
	return nil
}

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
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// statelessVersion is the first version of the protocol without sessions. The SDK takes it in stateless handlers alone,
// and clients of older versions need a session to be asked something.
const statelessVersion = "2026-07-28"

// The bounds of the server of ServeHTTP.
const (
	readHeaderTimeout = 10 * time.Second
	readBodyTimeout   = time.Minute
	idleTimeout       = 2 * time.Minute
	sessionTimeout    = time.Hour
	shutdownTimeout   = 5 * time.Second
)

// Handler serves the protocol over HTTP at the path /mcp. Requests need the token as "Authorization: Bearer TOKEN"; ""
// is for programs that check access themselves. Pages of other origins, and requests that have come to a loopback
// address by another host's name, are refused with 403.
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
	// The check of the SDK for names that were rebound stands behind that of the token. Here a page learns nothing
	// either way.
	return timed(sameOrigin(local(authorized(token, vetted(mux)))))
}

// timed bounds how long the body of a request may take, also of one that was refused before it was read.
func timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			setReadDeadline(w, time.Now().Add(readBodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// setReadDeadline sets the deadline of the connection. A server that has none, as in tests, has no slow clients.
func setReadDeadline(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// sameOrigin refuses requests of pages of other origins, whatever their method: a stream is opened with GET.
func sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := *r
		probe.Method = http.MethodPost // methods that only read are let through otherwise
		if err := protection.Check(&probe); err != nil {
			http.Error(w, "requests of pages of other origins are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
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
			w.Header().Set("Connection", "close") // nobody without the token keeps a connection
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
		if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(addr.String()) &&
			!loopback(r.Host) {
			http.Error(w, "the host is not this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// vetted answers a message that is not one, as on stdin. The SDK takes some of these for others, and for some it ends
// the session.
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
		setReadDeadline(w, time.Time{}) // the answer may take longer
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

// ErrNotLoopback reports that an address to listen on is not one of this machine alone.
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
	ended := make(chan struct{})
	// Streams that wait for messages end with base, and so does what a client is slow to take. Calls end before, see
	// below.
	base, end := context.WithCancel(stopping(ctx))
	defer end()
	var posts sync.WaitGroup
	server := &http.Server{
		Handler: counted(&posts, s.Handler(token)), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	stop := context.AfterFunc(ctx, func() {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			posts.Wait()
		}()
		go func() {
			select {
			case <-answered:
			case <-time.After(drainTimeout):
			}
			end()
		}()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout+shutdownTimeout)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
		close(ended)
	})
	defer s.calls.Wait()
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("mcpserver: %w", err)
	}
	<-ended // Serve returns when it is to stop, not when it has
	return nil
}

// counted counts the messages that are being answered.
func counted(posts *sync.WaitGroup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
			defer posts.Done()
		}
		next.ServeHTTP(w, r)
	})
}

package loopback

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// readBodyTimeout bounds how long the body of a request may take.
const readBodyTimeout = time.Minute

// ErrNotLoopback reports an address to listen on that other machines reach.
var ErrNotLoopback = errors.New("not a loopback address: use 127.0.0.1, [::1] or localhost")

// Guard returns a handler that refuses with 403 the requests of pages of other origins, whatever their method, and
// requests that have come to a loopback address by another host's name. The body of a request has a minute, also of one
// that is refused before it is read; [Unhurried] ends that.
func Guard(next http.Handler) http.Handler { return timed(sameOrigin(local(next))) }

// Same reports whether two secrets are the same, in a time that does not depend on where they differ.
func Same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Unhurried takes the deadline of the body off the connection, once the body is read: the answer may take longer.
func Unhurried(w http.ResponseWriter) { setReadDeadline(w, time.Time{}) }

// timed bounds how long the body of a request may take, also of a request that was refused before its body was read.
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

// local refuses requests that have come to a loopback address by a name that is none of it: a page whose name was bound
// to this machine.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(addr.String()) &&
			!isLoopback(r.Host) {
			http.Error(w, "the host is not this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether an address or a host, with or without a port, is this machine's own.
func isLoopback(hostport string) bool {
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

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

// readBodyTimeout limits how long a client may take to send the body of a request.
const readBodyTimeout = time.Minute

// ErrNotLoopback reports a listen address that other machines can reach.
var ErrNotLoopback = errors.New("not a loopback address: use 127.0.0.1, [::1] or localhost")

// Guard returns a handler that answers 403 to requests of pages of other origins, whatever their method, and to
// requests that reached a loopback address by another host's name. The body of a request must arrive within a minute,
// even if the request is refused before it is read; [Unhurried] removes that limit.
func Guard(next http.Handler) http.Handler { return timed(sameOrigin(local(next))) }

// Same reports whether two secrets are equal, in a time that does not depend on where they differ.
func Same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Unhurried removes the read deadline from the connection. Call it after the body is read, if the answer may take
// longer.
func Unhurried(w http.ResponseWriter) { setReadDeadline(w, time.Time{}) }

// timed limits how long the body of a request may take, even if the request is refused before its body is read.
func timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			setReadDeadline(w, time.Now().Add(readBodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// setReadDeadline sets the read deadline of the connection. It ignores servers that do not support one, as in tests:
// these have no slow clients.
func setReadDeadline(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// sameOrigin refuses requests of pages of other origins, whatever their method: even a stream starts with GET.
func sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := *r
		probe.Method = http.MethodPost // otherwise methods that only read would pass
		if err := protection.Check(&probe); err != nil {
			http.Error(w, "requests of pages of other origins are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local refuses requests that reached a loopback address by a name that is not one of its own: a page rebound its name
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

// isLoopback reports whether an address or a host, with or without a port, belongs to this machine's loopback.
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

package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of a server.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 5 * time.Second
)

// Listen listens on a loopback address such as "127.0.0.1:8080"; the system chooses the port for port 0. It returns
// ErrNotLoopback for any other address.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return nil, err
	case host == "" || !isLoopback(host):
		return nil, fmt.Errorf("%s: %w", addr, ErrNotLoopback)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if !isLoopback(l.Addr().String()) {
		_ = l.Close()
		return nil, fmt.Errorf("%s: %w", l.Addr(), ErrNotLoopback)
	}
	return l, nil
}

// Serve answers the requests to a listener until ctx is done, and then returns nil. The context of a request derives
// from base, which must outlive ctx. POST requests that are in progress when ctx is done have the duration drain to
// finish. Streams, and answers to slow clients, end with the last of these requests.
func Serve(ctx context.Context, l net.Listener, base context.Context, h http.Handler, drain time.Duration) error {
	ended := make(chan struct{})
	base, end := context.WithCancel(base)
	defer end()
	var posts sync.WaitGroup
	server := &http.Server{
		Handler: counted(&posts, h), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
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
			case <-time.After(drain):
			}
			end()
		}()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain+shutdownTimeout)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
		close(ended)
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-ended // Serve returns when shutdown begins, not when it has finished
	return nil
}

// counted counts the POST requests in progress.
func counted(posts *sync.WaitGroup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
			defer posts.Done()
		}
		next.ServeHTTP(w, r)
	})
}

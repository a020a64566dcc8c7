package mcpserver

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTimeout limits how long calls may continue after the end of the input. Longer calls are canceled.
const drainTimeout = 10 * time.Second

// ServeStdio serves the standard input and output of the process until the input ends or ctx is done. Standard output
// is only for the protocol: the program must not print to it.
func (s *Server) ServeStdio(ctx context.Context) error { return s.Serve(ctx, os.Stdin, os.Stdout) }

// Serve is ServeStdio for another input and output. It does not close them. After the end of the input it still answers
// the calls that were made, for at most ten seconds, so that a file of calls can be the input. When ctx is done, it
// accepts no more calls, and cancels and answers those that were made: a commit that has begun is finished. Neither end
// is an error. No call is running when it returns.
//
// A message is one line. A line that is malformed, or longer than 16 MiB, is answered with an error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.mcp.Run(stopping(ctx), transport{in, out, ctx})
	s.calls.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// transport connects an input and an output, and lets calls finish after the input ends.
type transport struct {
	in   io.Reader
	out  io.Writer
	stop context.Context //nolint:containedctx // the context of Serve, which outlives the connection
}

func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return &draining{Connection: newLines(t.in, t.out, t.stop), stop: t.stop, changed: make(chan struct{}, 1)}, nil
}

// draining is a connection that counts unanswered calls.
type draining struct {
	mcp.Connection
	stop context.Context //nolint:containedctx // see transport
	mu   sync.Mutex
	// calls counts unanswered calls of the client, questions counts unanswered questions to the client.
	calls, questions int
	changed          chan struct{}
}

// Read reports the end of the input only after all calls are answered. It does not wait for a call that waits for an
// answer of the client, because none can come.
func (d *draining) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := d.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		d.drain(ctx)
		return m, err
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			d.count(1, 0)
		}
	case *jsonrpc.Response:
		d.count(0, -1)
	}
	return m, err
}

// Write counts an answer after it was written.
func (d *draining) Write(ctx context.Context, m jsonrpc.Message) error {
	if q, ok := m.(*jsonrpc.Request); ok && q.IsCall() {
		d.count(0, 1)
	}
	err := d.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		d.count(-1, 0)
	}
	return err
}

func (d *draining) count(calls, questions int) {
	d.mu.Lock()
	d.calls, d.questions = d.calls+calls, d.questions+questions
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// drain waits until the calls are answered, but not while a question to the client is open. When the server must stop,
// all calls are canceled, so drain waits for these too.
func (d *draining) drain(ctx context.Context) {
	end := time.NewTimer(drainTimeout)
	defer end.Stop()
	for {
		d.mu.Lock()
		idle := d.calls <= 0 || d.questions > 0 && d.stop.Err() == nil
		d.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-d.changed:
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

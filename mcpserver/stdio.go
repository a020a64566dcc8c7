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

// drainTimeout limits the duration of calls after the end of the input. Longer calls are canceled.
const drainTimeout = 10 * time.Second

// ServeStdio serves the standard input and output of the process until the input ends or ctx is done. Standard output
// belongs to the protocol: the program must not print there.
func (s *Server) ServeStdio(ctx context.Context) error { return s.Serve(ctx, os.Stdin, os.Stdout) }

// Serve is ServeStdio for another input and output. It does not close them. When the input ends, the calls that were
// made are answered, if they take no more than ten seconds, so that a file of calls can be the input. When ctx is done,
// no more calls are taken, and those that were made are canceled and answered: a commit that has begun is finished. The
// end of the input is not an error, nor is that of ctx. No call goes on when it returns.
//
// A message is a line. A line that is not a message, or is longer than 16 MiB, is answered with an error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.mcp.Run(stopping(ctx), transport{in, out, ctx})
	s.calls.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// transport is that of an input and an output, which lets calls end when the input does.
type transport struct {
	in   io.Reader
	out  io.Writer
	stop context.Context //nolint:containedctx // it is that of Serve, which the connection does not outlive
}

func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return &draining{Connection: newLines(t.in, t.out, t.stop), stop: t.stop, changed: make(chan struct{}, 1)}, nil
}

// draining is a connection that counts the calls which are not answered yet.
type draining struct {
	mcp.Connection
	stop context.Context //nolint:containedctx // see transport
	mu   sync.Mutex
	// calls are those of the client, questions those of the server to the client.
	calls, questions int
	changed          chan struct{}
}

// Read reports the end of the input when all calls are answered. A call that waits for an answer of the client has
// none to wait for any more.
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

// Write counts what is answered. It is counted when it was written.
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

// drain waits until the calls are answered. Once the server is to stop, they are canceled, and those that wait for a
// person end as well.
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

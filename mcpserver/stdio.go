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

// maxMessage is the longest message of a client, in bytes, on both transports. The longest pipeline is as long.
const maxMessage = 16 << 20

// drainTimeout is how long calls may go on when the input has ended. What lasts longer is canceled.
const drainTimeout = 10 * time.Second

// ServeStdio serves the standard input and output of the process until the input ends or ctx is done. Standard output
// belongs to the protocol: the program must not print there.
func (s *Server) ServeStdio(ctx context.Context) error { return s.Serve(ctx, os.Stdin, os.Stdout) }

// Serve is ServeStdio for another input and output. It does not close them. When the input ends, the calls that were made
// are answered, if they take no more than ten seconds, so that a file of calls can be the input. The end of the input is
// no error, nor is that of ctx. No call goes on when it returns.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.mcp.Run(ctx, transport{in, out})
	s.calls.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// transport is that of the SDK for an input and an output, which lets calls end when the input does.
type transport struct {
	in  io.Reader
	out io.Writer
}

func (t transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := (&mcp.IOTransport{Reader: io.NopCloser(t.in), Writer: open{t.out}, MaxLineLength: maxMessage}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &draining{Connection: c, changed: make(chan struct{}, 1)}, nil
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// draining is a connection that counts the calls which are not answered yet.
type draining struct {
	mcp.Connection
	mu sync.Mutex
	// calls are those of the client, questions those of the server to the client.
	calls, questions int
	changed          chan struct{}
}

// Read tells of the end of the input when all calls are answered. A call that waits for an answer of the client has none
// to wait for any more.
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

func (d *draining) drain(ctx context.Context) {
	end := time.NewTimer(drainTimeout)
	defer end.Stop()
	for {
		d.mu.Lock()
		idle := d.calls <= 0 || d.questions > 0
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

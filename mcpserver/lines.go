package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errTooLongLine reports that a line has more than maxMessage bytes.
var errTooLongLine = errors.New("the line is too long")

// lines is a connection with one message per line. No line ends it: a malformed message is answered with an error.
type lines struct {
	incoming <-chan line
	stop     context.Context //nolint:containedctx // see transport
	closed   chan struct{}
	once     sync.Once
	queue    []jsonrpc.Message // read, but not yet returned by Read
	mu       sync.Mutex        // guards the fields below
	out      io.Writer
	pending  map[any]*batch // the unanswered calls by id, with their batch, nil for a single call
}

// line is one line of the input, or the error at its end.
type line struct {
	text []byte
	err  error
}

// batch is the state of the calls of one list, which are answered in one list.
type batch struct {
	left    int
	answers [][]byte
}

func newLines(in io.Reader, out io.Writer, stop context.Context) *lines {
	incoming := make(chan line)
	c := &lines{incoming: incoming, stop: stop, closed: make(chan struct{}), out: out, pending: make(map[any]*batch)}
	// A read of the input cannot be interrupted, so this goroutine may stay until the input ends.
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			text, err := readLine(r)
			select {
			case incoming <- line{text, err}:
			case <-c.closed:
				return
			}
			if err != nil && !errors.Is(err, errTooLongLine) {
				return
			}
		}
	}()
	return c
}

// readLine reads one line without its line ending. It keeps no more than maxMessage bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxMessage+len("\r\n"); long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, errTooLongLine // the next read reports the end of the input again
		case err != nil && len(text) == 0:
			return nil, err
		}
		text = bytes.TrimSpace(text)
		if len(text) > maxMessage {
			return nil, errTooLongLine
		}
		return text, nil
	}
}

// SessionID implements mcp.Connection. A connection of lines is a single session, which needs no name.
func (c *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *lines) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read implements mcp.Connection. It also reports the end of the input when the server must stop.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		var l line
		select {
		case l = <-c.incoming:
		case <-c.stop.Done():
			return nil, io.EOF
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := c.take(l); err != nil {
			return nil, err
		}
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	return m, nil
}

// take adds the messages of a line to the queue, or answers a line that has none.
func (c *lines) take(l line) error {
	switch {
	case errors.Is(l.err, errTooLongLine):
		return c.write(tooLong().encode())
	case l.err != nil:
		return l.err
	case len(l.text) == 0:
		return nil
	}
	list, isBatch, bad := messages(l.text)
	if bad == nil {
		bad = c.await(list, isBatch)
	}
	if bad != nil {
		return c.write(bad.encode())
	}
	c.queue = list
	return nil
}

// await records the calls of a line, which are answered together if the line is a list. It refuses a call with the id
// of an unanswered call, because an answer would then be ambiguous.
func (c *lines) await(list []jsonrpc.Message, isBatch bool) *refusal {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []any
	for _, m := range list {
		call, ok := m.(*jsonrpc.Request)
		if !ok || !call.IsCall() {
			continue
		}
		if _, taken := c.pending[call.ID.Raw()]; taken {
			return refuse(jsonrpc.CodeInvalidRequest, "the id %v is that of a call that is not answered yet",
				call.ID.Raw())
		}
		ids = append(ids, call.ID.Raw())
	}
	var b *batch
	if isBatch {
		b = &batch{left: len(ids)}
	}
	for _, id := range ids {
		c.pending[id] = b
	}
	return nil
}

// Write implements mcp.Connection.
func (c *lines) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := encodeMessage(m)
	if err != nil {
		return err
	}
	if answer, ok := m.(*jsonrpc.Response); ok {
		if data = c.gather(answer, data); data == nil {
			return nil
		}
	}
	return c.write(data)
}

// gather returns what to write for an answer: the answer itself, the list that it completes, or nothing yet.
func (c *lines) gather(answer *jsonrpc.Response, data []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.pending[answer.ID.Raw()]
	delete(c.pending, answer.ID.Raw())
	if b == nil {
		return data
	}
	b.answers = append(b.answers, data)
	if b.left--; b.left > 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

// write writes a line.
func (c *lines) write(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

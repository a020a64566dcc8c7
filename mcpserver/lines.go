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

// lines is a connection whose messages are lines. No line ends it: what is not a message is answered with an error.
type lines struct {
	incoming <-chan line
	stop     context.Context //nolint:containedctx // see transport
	closed   chan struct{}
	once     sync.Once
	queue    []jsonrpc.Message // read and not taken yet
	mu       sync.Mutex        // for what follows
	out      io.Writer
	pending  map[any]*batch // the calls that are not answered by their ids, with the list of each, nil for none
}

// line is one line of the input, or its end.
type line struct {
	text []byte
	err  error
}

// batch are the calls of one list. They are answered in one list.
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

// readLine reads one line without what ends it. It keeps no more than maxMessage bytes.
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
			return nil, errTooLongLine // the end of the input, if it is that, comes again
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

// SessionID implements mcp.Connection. A connection of lines is one session, which needs no name.
func (c *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *lines) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read implements mcp.Connection. The input has ended for it also when the server is to stop.
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

// take puts the messages of a line into the queue, or answers it.
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

// await notes the calls of a line, which are answered together if the line is a list. A call whose id is that of one
// which is not answered yet is refused: nobody could say which of them an answer is for.
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

// gather returns what is to be written for an answer: the answer, the list that it completes, or nothing yet.
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

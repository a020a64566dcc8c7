package tty

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Device is the controlling terminal as a device. It is in its usual mode except while it waits for a key, so that a
// process that ends in between leaves the terminal unchanged.
type Device struct {
	in, out *os.File
	// lines means that keys are read as lines: the terminal has no other mode, or is a program that imitates one.
	lines bool
	// pending is input that was read but not used yet.
	pending []byte
	// reading is a read that is still in progress after its context was done.
	reading chan read
}

type read struct {
	data []byte
	err  error
}

// Open opens the controlling terminal. If there is none, it returns [None].
func Open(getenv func(string) string) Terminal {
	in, out, err := open()
	if err != nil {
		return None
	}
	return &Device{in: in, out: out, lines: getenv("TERM") == "dumb"}
}

// Files returns the files for a program that talks to the user directly, such as an editor.
func (d *Device) Files() (in, out *os.File) { return d.in, d.out }

// Write shows text.
func (d *Device) Write(p []byte) (int, error) { return d.out.Write(p) }

// Ask shows a question and reads a line.
func (d *Device) Ask(ctx context.Context, question string) (string, error) {
	// Input that was typed early is shown, because a user must see the answer.
	line, _, complete := cutLine(d.pending)
	if complete {
		line = append(bytes.TrimRight(line, "\r\n"), '\n')
	}
	if _, err := d.out.WriteString(question + printable(line)); err != nil {
		return "", err
	}
	return d.line(ctx)
}

// line reads a line.
func (d *Device) line(ctx context.Context) (string, error) {
	for {
		if line, rest, ok := cutLine(d.pending); ok {
			d.pending = rest
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		if err := d.read(ctx); err != nil {
			rest := string(d.pending)
			d.pending = nil
			return rest, err
		}
	}
}

// cutLine cuts the first line off the typed input. In raw mode it ends in "\r".
func cutLine(typed []byte) (line, rest []byte, complete bool) {
	n := bytes.IndexAny(typed, "\r\n")
	if n < 0 {
		return typed, nil, false
	}
	return typed[:n+1], typed[n+1:], true
}

// printable removes everything that is not a character.
func printable(typed []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, string(typed))
}

// Key returns the next key.
func (d *Device) Key(ctx context.Context) (rune, error) {
	if d.lines {
		line, err := d.line(ctx)
		if err != nil && line == "" {
			return 0, err
		}
		return keyOf(line), nil
	}
	for {
		if key, n := firstKey(d.pending); n > 0 {
			if d.pending = d.pending[n:]; key != '\r' && key != '\n' {
				// Some users press Enter after the key out of habit: that must not answer the next question.
				d.pending = bytes.TrimPrefix(bytes.TrimPrefix(d.pending, []byte("\r")), []byte("\n"))
			}
			_, err := d.out.WriteString(strings.TrimSuffix(printable([]byte(string(key))), "\n") + "\n")
			return key, err
		}
		raw, err := term.MakeRaw(int(d.in.Fd()))
		if err != nil {
			d.lines = true
			return d.Key(ctx)
		}
		err = d.read(ctx)
		if err := errors.Join(err, term.Restore(int(d.in.Fd()), raw)); err != nil {
			return 0, err
		}
	}
}

// keyOf returns the key in a line.
func keyOf(line string) rune {
	line = strings.TrimSpace(line)
	key, n := utf8.DecodeRuneInString(line)
	if n != len(line) {
		return utf8.RuneError
	}
	return key
}

// firstKey returns the first key of the typed input, and its length in bytes: 0 if more input is needed. An arrow or
// function key, which is several characters to a program, is one key without a character.
func firstKey(typed []byte) (key rune, n int) {
	switch {
	case len(typed) == 0, !utf8.FullRune(typed):
		return 0, 0
	case typed[0] == '\x1b':
		return utf8.RuneError, escapeLen(typed)
	}
	return utf8.DecodeRune(typed)
}

// escapeLen returns the length in bytes of the escape sequence at the beginning of the typed input. An incomplete
// sequence ends with the input: a terminal sends a sequence in one piece.
func escapeLen(typed []byte) int {
	if len(typed) < 2 {
		return 1
	}
	if typed[1] != '[' && typed[1] != 'O' {
		return 2 // with the Alt key
	}
	for n := 2; n < len(typed); n++ {
		if typed[n] >= '@' && typed[n] <= '~' {
			return n + 1
		}
	}
	return len(typed)
}

// read waits for further input.
func (d *Device) read(ctx context.Context) error {
	if d.reading == nil {
		d.reading = make(chan read, 1)
		go func(to chan<- read) {
			buf := make([]byte, 256)
			n, err := d.in.Read(buf)
			if n == 0 && err == nil {
				err = io.EOF
			}
			to <- read{buf[:n], err}
		}(d.reading)
	}
	select {
	case r := <-d.reading:
		d.reading = nil
		d.pending = append(d.pending, r.data...)
		if len(r.data) > 0 {
			return nil
		}
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

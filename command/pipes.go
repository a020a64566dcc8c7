package command

import (
	"io"
	"os"
	"sync"
	"time"
)

// pipes are the pipes of a command: its ends, nil once it has them, and our ends with their readers and writers.
type pipes struct {
	stdin, stdout, stderr *os.File
	ours                  []*os.File // stdout and stderr to read, stdin to write
	reading, writing      sync.WaitGroup
}

// connect creates the pipes of a command, and starts to read and to write.
func connect(stdin string, out *printer) (*pipes, error) {
	e := &pipes{}
	read := func(theirs **os.File, s *stream) error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		*theirs, e.ours = w, append(e.ours, r)
		e.reading.Go(func() {
			buffer := make([]byte, 32<<10)
			for {
				n, err := r.Read(buffer)
				out.take(s, buffer[:n])
				if err != nil {
					return
				}
			}
		})
		return nil
	}
	err := read(&e.stdout, out.stdout)
	if err == nil {
		err = read(&e.stderr, out.stderr)
	}
	if err == nil && stdin != "" {
		var w *os.File
		if e.stdin, w, err = os.Pipe(); err == nil {
			e.ours = append(e.ours, w)
			e.writing.Go(func() {
				_, _ = io.WriteString(w, stdin) // a command need not read it
				_ = w.Close()
			})
		}
	}
	if err != nil {
		e.started()
		e.close()
		return nil, err
	}
	return e, nil
}

// started closes the ends that the command has inherited.
func (e *pipes) started() {
	for _, theirs := range []**os.File{&e.stdin, &e.stdout, &e.stderr} {
		if *theirs != nil {
			_ = (*theirs).Close()
			*theirs = nil
		}
	}
}

// finish reads the rest of the output after the command has ended, and reports whether another process still holds the
// output open.
func (e *pipes) finish() (held bool) {
	read := make(chan struct{})
	go func() { defer close(read); e.reading.Wait() }()
	timer := time.NewTimer(holding)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
		held = true
	}
	e.close()
	return held
}

// close closes our ends and waits until nothing uses them.
func (e *pipes) close() {
	e.started()
	for _, file := range e.ours {
		_ = file.Close()
	}
	e.reading.Wait()
	e.writing.Wait()
}

package command

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/internal/panics"
)

// printer receives the output of one command: both streams, with the limit on both together.
type printer struct {
	stdout, stderr *stream

	most    int64
	printed atomic.Int64
	telling sync.Mutex // so that calls of OnOutput do not overlap

	once    sync.Once
	failed  error         // why the command must end, set before stopped is closed
	stopped chan struct{} // closed when the command must end
}

func (p Policy) printer(c Command) *printer {
	r := &printer{most: cmp.Or(p.MaxPrinted, defaultMaxPrinted), stopped: make(chan struct{})}
	needles := p.needles()
	r.stdout = newStream(needles, p.keep(c), r.teller(c.OnOutput, "stdout"))
	r.stderr = newStream(needles, p.keep(c), r.teller(c.OnOutput, "stderr"))
	return r
}

// stop ends the command. The first reason counts.
func (r *printer) stop(err error) {
	r.once.Do(func() {
		r.failed = err
		close(r.stopped)
	})
}

// err returns the reason why the command had to end, nil if it had not.
func (r *printer) err() error {
	select {
	case <-r.stopped:
		return r.failed
	default:
		return nil
	}
}

// take adds bytes printed on a stream. Beyond the limit they are counted and dropped.
func (r *printer) take(s *stream, p []byte) {
	total := r.printed.Add(int64(len(p)))
	if total <= r.most {
		s.write(p)
		return
	}
	s.drop(p)
	r.stop(&limitError{What: "printed bytes", Limit: r.most, Got: total})
}

// teller returns the function that reports a stream to the host, nil if the host has no OnOutput.
func (r *printer) teller(tell func(stream, text string), name string) func(string) {
	if tell == nil {
		return nil
	}
	return func(text string) {
		r.telling.Lock()
		defer r.telling.Unlock()
		if r.err() != nil {
			return
		}
		if err := panics.Protect(func() error { tell(name, text); return nil }); err != nil {
			r.stop(fmt.Errorf("the host's OnOutput failed: %w", err))
		}
	}
}

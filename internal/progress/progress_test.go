package progress_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace-go/millrace/internal/progress"
)

// The line of progress comes after 300 ms, at most every 100 ms, in one write, and goes away.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w writes
		p := progress.New(&w)
		for i := range 10 {
			p.Show(fmt.Sprintf("step %d\x1b\u202e", i))
			time.Sleep(50 * time.Millisecond)
		}
		p.Clear()
		p.Clear()
		time.Sleep(time.Second)
		p.Show("again")
		p.Done()
		p.Show("never")
		p.Done()
		want := writes{
			"\r\x1b[?7lstep 6\\x1b\\u202e\x1b[K\x1b[?7h", "\r\x1b[?7lstep 8\\x1b\\u202e\x1b[K\x1b[?7h", "\r\x1b[K",
			"\r\x1b[?7lagain\x1b[K\x1b[?7h", "\r\x1b[K",
		}
		if fmt.Sprintf("%q", w) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q\nwant %q", w, want)
		}
	})
	var none *progress.Line
	none.Show("x")
	none.Clear()
	none.Done()
}

type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

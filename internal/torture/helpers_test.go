package torture

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const stateDir = ".millrace"

// parallel calls do with 0 to n-1, several at a time. After a failure it starts no more calls.
func parallel(t testing.TB, n int, do func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) + 1 {
		wg.Go(func() {
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					t.Errorf("run %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// pause waits for a duration too short for the scheduler.
func pause(d time.Duration) {
	if d > 5*time.Millisecond {
		time.Sleep(d)
		return
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		runtime.Gosched()
	}
}

// counters counts things by name, from several goroutines.
type counters struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counters) add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[name] += n
}

func (c *counters) get(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[name]
}

func exists(elem ...string) bool {
	_, err := os.Lstat(filepath.Join(elem...))
	return err == nil
}

package actions

import "sync"

// progressEvery is after how many files a step that does not know how many there are says how far it is.
const progressEvery = 64

// progress counts the files that a step is done with, and says so. The numbers that are said only ever grow. It is
// safe for concurrent use.
type progress struct {
	on    func(done, total int) // nil if nobody asks
	total int                   // 0 if not known

	mu   sync.Mutex
	done int
}

// progress begins to count files, of which there are total, or 0 if that is not known.
func (c *Call) progress(total int) *progress { return &progress{on: c.OnProgress, total: total} }

// file counts one file more. Of files without a known end it says only every so many.
func (p *progress) file() {
	if p.on == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done++; p.total > 0 || p.done%progressEvery == 0 {
		p.on(p.done, p.total)
	}
}

// end says how many files there were, of steps that did not know before.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on != nil && p.total == 0 && p.done > 0 {
		p.on(p.done, p.done)
	}
}

// read tells of bytes that were read.
func (c *Call) read(n int) {
	if c.OnBytes != nil && n > 0 {
		c.OnBytes(int64(n))
	}
}

package millrace

import "sync"

// progressBytes is after how many bytes a step says how far it is, even if no file is done meanwhile.
const progressBytes = 16 << 20

// stepProgress makes events of what an action says about how far it is. It is safe for concurrent use.
type stepProgress struct {
	notify func(Event)

	mu   sync.Mutex
	now  StepProgress
	said int64 // bytes
}

func (p *stepProgress) files(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.now.Done {
		return // said by another goroutine, which was faster
	}
	p.now.Done, p.now.Total = done, total
	p.say()
}

func (p *stepProgress) bytes(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Bytes += n; p.now.Bytes-p.said >= progressBytes {
		p.say()
	}
}

func (p *stepProgress) say() {
	p.said = p.now.Bytes
	p.notify(p.now)
}

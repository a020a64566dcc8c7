package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/millrace-go/millrace"
)

// The limits of the plans that are kept. The oldest are dropped first.
const (
	maxPlans     = 16
	maxPlanBytes = 64 << 20
	maxPlanAge   = time.Hour
)

// entry is a plan that was shown or that a person is asked about.
type entry struct {
	id, digest string
	plan       *millrace.Plan
	size       int64
	made       time.Time
	relay      *relay
	// counter continues the numbers of the call that made the plan, so that the progress still increases when the call is
	// repeated after a question.
	counter *counter
	// render makes the answer for the tool that made the plan, after the commit.
	render func(*millrace.Result) *answer
	// turn is a lock, with room for the one call that commits. result and err are the outcome of the commit; turn guards
	// them.
	turn   chan struct{}
	result *millrace.Result
	err    error
}

// relay redirects the events of a commit to the call that commits, away from the call that planned.
type relay struct {
	mu sync.Mutex
	to func(millrace.Event)
}

func (r *relay) observe(e millrace.Event) {
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	if to != nil {
		to(e)
	}
}

func (r *relay) set(to func(millrace.Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// plans keeps plans in memory.
type plans struct {
	mu   sync.Mutex
	list []*entry // the oldest first
}

func newPlans() *plans { return &plans{} }

// add keeps a plan. It computes the digest now, because the model approves the digest.
func (k *plans) add(plan *millrace.Plan, r *relay, render func(*millrace.Result) *answer) (*entry, error) {
	digest, err := plan.Digest()
	if err != nil && !plan.Result().Incomplete {
		return nil, err
	}
	e := &entry{
		id: newID(), digest: digest, plan: plan, size: sizeOf(plan), made: time.Now(), relay: r,
		counter: &counter{}, render: render, turn: make(chan struct{}, 1),
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, e)
	k.tidy()
	return e, nil
}

// find returns a plan by id.
func (k *plans) find(id string) (*entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tidy()
	for _, e := range k.list {
		if e.id == id {
			return e, nil
		}
	}
	return nil, planError("call plan_pipeline again",
		"the plan '%s' no longer exists: the last %d plans are kept for an hour", shown(id), maxPlans)
}

// tidy drops plans that are too large or too old. It keeps the newest plan whatever its size.
func (k *plans) tidy() {
	var size int64
	for _, e := range k.list {
		size += e.size
	}
	for len(k.list) > 0 {
		e := k.list[0]
		old := time.Since(e.made) > maxPlanAge
		if !old && (len(k.list) == 1 || len(k.list) <= maxPlans && size <= maxPlanBytes) {
			return
		}
		size -= e.size
		_ = e.plan.Close()
		k.list = k.list[1:]
	}
}

func (k *plans) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.list {
		_ = e.plan.Close()
	}
	k.list = nil
}

// sizeOf estimates the memory that a plan uses, in bytes.
func sizeOf(plan *millrace.Plan) int64 {
	var size int64
	for _, c := range plan.Outline() {
		size += 512
		for _, s := range c.Splices {
			size += int64(len(s.Text)) + 64
		}
		if c.Splices == nil {
			size += c.New.Size
		}
	}
	return size
}

// newID returns an id that cannot be guessed.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

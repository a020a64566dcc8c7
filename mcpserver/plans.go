package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/millrace-go/millrace"
)

// The bounds of the plans that are kept. The oldest go first.
const (
	maxPlans     = 16
	maxPlanBytes = 64 << 20
	maxPlanAge   = time.Hour
)

// entry is a plan that was shown, or that a person is asked about.
type entry struct {
	id, digest string
	plan       *millrace.Plan
	size       int64
	made       time.Time
	relay      *relay
	// counter goes on where the call that made the plan has stopped, so that the progress of a call which is made again
	// after a question still rises.
	counter *counter
	// render makes the answer when the plan was committed for the tool that had made it.
	render func(*millrace.Result) *answer
	// turn has room for one: who commits. result and err are what came of it, and belong to it.
	turn   chan struct{}
	result *millrace.Result
	err    error
}

// relay lets the events of a commit go to the call that commits, not to the call that has planned.
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

// add keeps a plan. Its digest is worked out now, for it is what is approved.
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

// find returns a plan by its id.
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
		"there is no plan '%s' any more: the last %d plans are kept for an hour", shown(id), maxPlans)
}

// tidy lets go what is too much or too old. The newest plan stays whatever its size.
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

// sizeOf is about how much memory a plan takes, in bytes.
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

// newID is a name that cannot be guessed.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/fleetlimits"
)

// Campaign is a pipeline for many trees.
type Campaign struct {
	// ID names the campaign: letters, digits, "-" and "_", 1 to 255. A campaign that is run again under the
	// same id leaves the targets alone that it has committed to already.
	ID string
	// Pipeline is the pipeline for each tree.
	Pipeline millrace.Pipeline
	// Observe receives the events of the runs, each as an [Event], from one goroutine at a time. [Fleet.Run] sets it. A
	// scheduler whose workers are on other machines does not call it. Nil means no observer.
	Observe func(millrace.Event)
}

// Check returns an error if the id is not valid, or for the zero Pipeline.
func (c Campaign) Check() error {
	allowed := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if c.ID == "" || len(c.ID) > fleetlimits.CampaignLen || strings.TrimFunc(c.ID, allowed) != "" ||
		strings.ContainsFunc(c.ID, func(r rune) bool { return !allowed(r) }) {
		return &errorform.FieldError{Field: "Campaign.ID", Value: cut(c.ID, 100),
			Reason: "letters, digits, - and _ are allowed, 1 to 255"}
	}
	if c.Pipeline.Len() == 0 {
		return &errorform.FieldError{Field: "Campaign.Pipeline", Reason: "it has no steps"}
	}
	return nil
}

// Scheduler passes targets to workers: [Local] to goroutines of this process, others to other machines.
type Scheduler interface {
	// Schedule passes each target to a Worker at least once, and its outcome to done once: in any order, from one
	// goroutine at a time. Index is the position in targets. Targets are read one by one, when there is room for one more,
	// from any goroutine, but none after Schedule has returned. After an error of the targets or of done, or when ctx is
	// done, no more targets are begun. Schedule then waits for the running targets, passes on their outcomes, except after
	// an error of done, and returns that error, or the cause of ctx.
	Schedule(ctx context.Context, c Campaign, targets iter.Seq2[Target, error], done func(Outcome) error) error
}

// Event is an event in the run of one target.
type Event struct {
	millrace.Event
	// Target is the id of the target, Index its position, from 0.
	Target string
	Index  int
}

// MarshalJSON writes the inner event, with the fields "target" and "target_index" before its own.
func (e Event) MarshalJSON() ([]byte, error) {
	inner, err := json.Marshal(e.Event)
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(struct {
		Target string `json:"target"`
		Index  int    `json:"target_index"`
	}{e.Target, e.Index})
	if err != nil || len(inner) <= len("{}") {
		return own, err
	}
	return append(append(own[:len(own)-1], ','), inner[1:]...), nil
}

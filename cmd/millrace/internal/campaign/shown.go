package campaign

import (
	"fmt"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fleet"
)

// shown has the plans that the user is asked about. The methods of nil, for a campaign without a question, do nothing.
type shown struct {
	// answers are the answers of agents and commands in these plans, so that the runs after the question have them too.
	answers millrace.Recorder

	mu      sync.Mutex
	digests map[string]string // by target id; "" for an incomplete plan, which no run repeats
}

func newShown() *shown {
	return &shown{answers: millrace.NewMemoryRecorder(), digests: make(map[string]string)}
}

// add adds the plan of a target.
func (s *shown) add(target string, plan *millrace.Plan) (err error) {
	if s == nil {
		return nil
	}
	digest := ""
	if !plan.Result().Incomplete {
		if digest, err = plan.Digest(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digests[target] = digest
	return nil
}

// check returns an error if a complete plan of the target was not shown, or another plan.
func (s *shown) check(campaign, target string, plan *millrace.Plan) error {
	if s == nil {
		return nil
	}
	now, err := plan.Digest()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, ok := s.digests[target]; !ok || was != "" && was != now {
		return &planChangedError{campaign}
	}
	return nil
}

// planChangedError reports that the changes to commit are not the changes that were shown.
type planChangedError struct{ campaign string }

func (e *planChangedError) Error() string {
	return fmt.Sprintf("the plan is not the approved plan: millrace fleet diff %[1]s shows it, "+
		"millrace fleet retry %[1]s goes on", e.campaign)
}

// Code returns "plan_changed".
func (*planChangedError) Code() string { return fleet.CodePlanChanged }

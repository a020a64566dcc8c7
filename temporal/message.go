package millracetemporal

import (
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/risk"
)

// Names of what a worker registers, and of what clients ask.
const (
	campaignWorkflow   = "millrace.Campaign"
	runTargetActivity  = "millrace.RunTarget"
	planTargetActivity = "millrace.PlanTarget"
	collectActivity    = "millrace.Collect"
	approveActivity    = "millrace.Approve"

	progressQuery      = "progress"
	playUpdate         = "play"
	retryUpdate        = "retry"
	cancelTargetUpdate = "cancel_target"
)

// Phases of a campaign.
const (
	PhasePlanning = "planning" // the plans of all targets are being made, for a gate
	PhaseHeld     = "held"     // they are made, and the campaign has to be played
	PhaseRunning  = "running"  // the targets are being changed
	PhaseDone     = "done"     // every target has an outcome
)

// pageSize is how many targets a page has, and after how many a campaign continues as a new run of its workflow.
const pageSize = 500

// mostFailed is how many failed targets a campaign knows by their positions.
const mostFailed = 500

// state is what a campaign is begun with, and what it hands to itself when it continues as new. Large parts are in
// blobs.
type state struct {
	Project  string   `json:"project"`
	Campaign string   `json:"campaign"`
	Pipeline string   `json:"pipeline"` // a blob: the JSON
	Name     string   `json:"name"`     // of the pipeline
	Targets  string   `json:"targets"`  // a blob: a book of targets
	Count    int      `json:"count"`    // of the targets
	Settings settings `json:"settings"`

	Phase      string       `json:"phase,omitempty"`
	PlanDigest string       `json:"plan_digest,omitempty"` // of all plans together
	Plans      string       `json:"plans,omitempty"`       // a blob: a book of the digests of plans
	Next       int          `json:"next"`                  // the first target that was not begun
	Again      []failed     `json:"again,omitempty"`       // failed targets that are begun once more
	Refused    []int        `json:"refused,omitempty"`     // targets not begun that are not to be
	Sum        fleet.Counts `json:"sum"`
	Failed     []failed     `json:"failed,omitempty"` // at most mostFailed
	Head       string       `json:"head,omitempty"`   // a blob: the last sheet of outcomes
	Began      time.Time    `json:"began"`
}

// settings are a client's settings of a campaign.
type settings struct {
	Parallel     int           `json:"parallel"`
	Page         int           `json:"page"`
	StopAfter    int           `json:"stop_after,omitempty"`
	Deadline     time.Duration `json:"deadline,omitempty"`
	Budget       budget.Cost   `json:"budget_usd,omitempty"`
	Gate         bool          `json:"gate,omitempty"`
	HoldFor      time.Duration `json:"hold_for"`
	StartToClose time.Duration `json:"start_to_close"`
	Heartbeat    time.Duration `json:"heartbeat"`
	Attempts     int32         `json:"attempts"`
	Attributes   bool          `json:"attributes,omitempty"`
}

// failed is a target that has failed, and may be tried again.
type failed struct {
	Index int        `json:"index"`
	Code  string     `json:"code"`
	Risk  risk.Level `json:"risk,omitzero"`
}

// Progress describes how far a campaign is.
type Progress struct {
	Project  string `json:"project"`
	Campaign string `json:"campaign"`
	Phase    string `json:"phase"`
	// Targets is how many there are, Active how many are being worked on.
	Targets int          `json:"targets"`
	Active  int          `json:"active"`
	Sum     fleet.Counts `json:"sum"`
	// PlanDigest is what Play has to be given, of a campaign that is or was held.
	PlanDigest string `json:"plan_digest,omitempty"`
	// Book is the address of the targets, Head that of the last outcomes that were put down.
	Book string `json:"book"`
	Head string `json:"head,omitempty"`
}

// book is a list of pages, each of which has so many items, but for the last.
type book struct {
	Page  int      `json:"page"`
	Count int      `json:"count"`
	Pages []string `json:"pages"`
}

// sheet are the outcomes of one run of the workflow, and where those before are. The later outcome counts.
type sheet struct {
	Before   string    `json:"before,omitempty"`
	Phase    string    `json:"phase"`
	Outcomes []report  `json:"outcomes"`
	Skipped  []skipped `json:"skipped,omitempty"`
}

// report is an activity's report on a target: at most about 4 KiB.
type report struct {
	Outcome fleet.Outcome `json:"outcome"`
	// Result is a blob: the Result of the run, or of its plan. "" if there is none.
	Result string `json:"result,omitempty"`
	// Plan is the digest of the plan, if that was asked for.
	Plan string `json:"plan,omitempty"`
}

// skipped are targets that were not begun, from the first to before the last.
type skipped struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Code string `json:"code"`
	Text string `json:"text"`
}

// targetInput is the input of an activity for a target.
type targetInput struct {
	Campaign string `json:"campaign"`
	Pipeline string `json:"pipeline"`
	Targets  string `json:"targets"`
	Index    int    `json:"index"`
	Plans    string `json:"plans,omitempty"`
}

// heartbeat is an activity's report while it works: at most 200 bytes.
type heartbeat struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Edits int    `json:"edits"`
}

// approval is what is made of all plans together.
type approval struct {
	Digest string `json:"digest"`
	Plans  string `json:"plans"`
}

// playInput, retryInput and cancelInput are what updates are given.
type (
	playInput   struct{ PlanDigest string }
	retryInput  struct{ Indices []int } // nil: all that have failed
	cancelInput struct{ Index int }
)

package millracetemporal

import (
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/risk"
)

// Names of the workflow and activities of a worker, and of the queries and updates of clients.
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
	PhasePlanning = "planning" // the plans of all targets are in progress, for a gate
	PhaseHeld     = "held"     // the plans are complete, and the campaign waits for Play
	PhaseRunning  = "running"  // the targets are being changed
	PhaseDone     = "done"     // every target has an outcome
)

// pageSize is the number of targets in a page, and the number of targets after which a campaign continues as a new run
// of its workflow.
const pageSize = 500

// mostFailed is the number of failed targets whose positions a campaign remembers.
const mostFailed = 500

// state is the input of a campaign, and its own input when it continues as new. Large parts are in blobs.
type state struct {
	Project  string   `json:"project"`
	Campaign string   `json:"campaign"`
	Pipeline string   `json:"pipeline"` // a blob: the JSON
	Name     string   `json:"name"`     // of the pipeline
	Targets  string   `json:"targets"`  // a blob: a book of targets
	Count    int      `json:"count"`    // the number of targets
	Settings settings `json:"settings"`

	Phase      string       `json:"phase,omitempty"`
	PlanDigest string       `json:"plan_digest,omitempty"` // of all plans together
	Plans      string       `json:"plans,omitempty"`       // a blob: a book of the digests of plans
	Next       int          `json:"next"`                  // the first target that has not started
	Again      []failed     `json:"again,omitempty"`       // failed targets to start again
	Refused    []int        `json:"refused,omitempty"`     // canceled targets that have not started
	Sum        fleet.Counts `json:"sum"`
	Failed     []failed     `json:"failed,omitempty"` // at most mostFailed
	Head       string       `json:"head,omitempty"`   // a blob: the latest sheet of outcomes
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

// failed is a failed target that may be tried again.
type failed struct {
	Index int        `json:"index"`
	Code  string     `json:"code"`
	Risk  risk.Level `json:"risk,omitzero"`
}

// Progress is the progress of a campaign.
type Progress struct {
	Project  string `json:"project"`
	Campaign string `json:"campaign"`
	Phase    string `json:"phase"`
	// Targets is the number of targets, Active the number in progress.
	Targets int          `json:"targets"`
	Active  int          `json:"active"`
	Sum     fleet.Counts `json:"sum"`
	// PlanDigest is the argument for Play, of a campaign that is or was held.
	PlanDigest string `json:"plan_digest,omitempty"`
	// Book is the address of the targets, Head the address of the latest stored outcomes.
	Book string `json:"book"`
	Head string `json:"head,omitempty"`
}

// book is a list of pages. All have Page items, except for the last.
type book struct {
	Page  int      `json:"page"`
	Count int      `json:"count"`
	Pages []string `json:"pages"`
}

// item is a target in a page.
type item struct {
	fleet.Target
	// Invalid is the reason why the target fails. The other fields may then be truncated.
	Invalid string `json:"invalid,omitempty"`
}

// sheet has the outcomes of one run of the workflow, and the address of the sheet before. The later outcome counts.
type sheet struct {
	Before   string    `json:"before,omitempty"`
	Phase    string    `json:"phase"`
	Outcomes []report  `json:"outcomes"`
	Skipped  []skipped `json:"skipped,omitempty"`
}

// report is an activity's report on a target, of at most about 4 KiB.
type report struct {
	Outcome fleet.Outcome `json:"outcome"`
	// Result is a blob: the Result of the run, or of its plan. "" if there is none.
	Result string `json:"result,omitempty"`
	// Plan is the digest of the plan, if a plan was requested.
	Plan string `json:"plan,omitempty"`

	phase string // of the sheet that it was read from
}

// skipped are targets that did not start: those from From up to, not including, To.
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

// heartbeat is an activity's report during its work, of at most 200 bytes.
type heartbeat struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Edits int    `json:"edits"`
	// Spent is the cost of all attempts so far.
	Spent budget.Cost `json:"spent_usd,omitzero"`
}

// approval is the result of all plans together.
type approval struct {
	Digest string `json:"digest"`
	Plans  string `json:"plans"`
}

// playInput, retryInput and cancelInput are the inputs of updates.
type (
	playInput   struct{ PlanDigest string }
	retryInput  struct{ Indices []int } // nil: all failed targets
	cancelInput struct{ Index int }
)

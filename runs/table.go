package runs

import (
	"slices"
	"time"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// The names of the commands.
const (
	CommandBrowse = "browse_pipelines"
	CommandManage = "manage_pipeline"
	CommandJobs   = "manage_pipeline_job"
)

// kind is the kind of JSON value that a parameter accepts.
type kind uint8

const (
	text       kind = iota // a string that is not empty, of at most most characters
	word                   // a word of a list
	flag                   // true or false
	whole                  // a whole number from least to most
	ident                  // a whole number from 1, or a string that is not empty
	moment                 // a time
	digest                 // at least 7 hexadecimal digits
	variables              // a list of variables
	definition             // a pipeline, or a text for a pipeline
)

// mostText is the largest number of characters in the strings.
const mostText = 1024

// value is the decoded value of a parameter; its kind selects the field.
type value struct {
	text      string
	texts     []string // for a word; lenient decoding allows several
	flag      bool
	number    int64
	at        time.Time
	variables []Variable
	node      *strictjson.Node
}

// param is a parameter of a command.
type param struct {
	name string
	// alias is another name that lenient decoding accepts.
	alias, doc  string
	kind        kind
	words       []string
	many        bool // for a word: lenient decoding accepts a list
	typed       bool // for variables: they have a type
	least, most int64
	// lenient parameters are only for lenient decoding.
	lenient bool
	set     func(a *args, v value)
}

// args are the arguments of a call.
type args struct {
	run    RunRef // its project applies to all
	job    string
	filter Filter
	jobs   JobFilter
	lines  LogRange
	create CreateParams
	play   PlayParams
	// definition is the pipeline of create, nil for none.
	definition *strictjson.Node
}

// act is an action of a command.
type act struct {
	name, doc string
	required  []string
	// either are parameters of which exactly one must be given.
	either   []string
	optional []string
	// folded is the action of manage_pipeline_job that lenient decoding accepts here under this name, "" for others.
	folded string
}

// takes reports whether a parameter belongs to the action.
func (a *act) takes(name string) bool {
	return name == "action" || slices.Contains(a.required, name) || slices.Contains(a.either, name) ||
		slices.Contains(a.optional, name)
}

// command is one of the three commands.
type command struct {
	name, doc string
	readOnly  bool
	maxBytes  int // of the text of a call
	params    []param
	acts      []act
}

func (c *command) param(name string) *param {
	for i := range c.params {
		if c.params[i].name == name {
			return &c.params[i]
		}
	}
	return nil
}

// act returns the action with a name. Folded actions are only for lenient decoding.
func (c *command) act(name string, lenient bool) *act {
	for i := range c.acts {
		if c.acts[i].name == name && (lenient || c.acts[i].folded == "") {
			return &c.acts[i]
		}
	}
	return nil
}

// names returns the names of the actions.
func (c *command) names(lenient bool) []string {
	var names []string
	for i := range c.acts {
		if lenient || c.acts[i].folded == "" {
			names = append(names, c.acts[i].name)
		}
	}
	return names
}

// commands returns the table for decoding calls, and for schemas and descriptions.
func commands() []command {
	return []command{
		{
			name: CommandBrowse, readOnly: true, maxBytes: 1 << 20,
			doc: "Look at runs of pipelines and their jobs. Nothing is changed.",
			params: slices.Concat([]param{projectParam(), runParam(), jobParam()}, filterParams(), jobsParams(),
				pagingParams(),
				linesParams()),
			acts: []act{
				{
					name: "list", doc: "List the runs of a project, the latest first.", required: []string{"projectId"},
					optional: []string{
						"status", "ref", "sha", "username", "yaml_errors", "updated_before", "updated_after", "name",
						"order_by", "sort", "source", "page", "per_page", "snapshot",
					},
				},
				{name: "get", doc: "Show a run with its result so far.", required: []string{"projectId", "pipelineId"}},
				{
					name: "jobs", doc: "List the jobs of a run: the latest of each step, then the commit.",
					required: []string{"projectId", "pipelineId"},
					optional: []string{"scope", "include_retried", "page", "per_page"},
				},
				{
					name: "triggers", doc: "List the targets of a run that is a fleet.",
					required: []string{"projectId", "pipelineId"}, optional: []string{"page", "per_page"},
				},
				{name: "job", doc: "Show a job with its result.", required: []string{"projectId", "jobId"}},
				{
					name: "logs", doc: "Show lines of the log of a job, by default the last lines.",
					required: []string{"projectId", "jobId"}, optional: []string{"start", "limit"},
				},
			},
		},
		{
			name: CommandManage, maxBytes: 128 << 20,
			doc: "Create a run of a pipeline, retry a failed or canceled run, or cancel a run.",
			params: slices.Concat([]param{projectParam(), runParam()}, createParams(), folded(jobParam()),
				folded(playParams()...)),
			acts: []act{
				{
					name: "create", doc: "Create a run of a pipeline of the library, or of a given pipeline.",
					required: []string{"projectId"}, either: []string{"ref", "definition"},
					optional: []string{"variables"},
				},
				{name: "retry", doc: "Continue a run after its last finished step.", required: []string{"projectId", "pipelineId"}},
				{name: "cancel", doc: "Cancel a run. Its work is kept for retry.", required: []string{"projectId", "pipelineId"}},
				{
					name: "play_job", folded: "play", required: []string{"projectId", "jobId"},
					optional: []string{"job_variables_attributes", "force", "plan_digest"},
				},
				{name: "retry_job", folded: "retry", required: []string{"projectId", "jobId"}},
				{name: "cancel_job", folded: "cancel", required: []string{"projectId", "jobId"}},
			},
		},
		{
			name: CommandJobs, maxBytes: 64 << 20,
			doc:    "Play a job that waits for a decision, retry a run from a job on, or cancel a job.",
			params: slices.Concat([]param{projectParam(), jobParam()}, playParams()),
			acts: []act{
				{
					name: "play", doc: "Approve this job, so that its run continues.",
					required: []string{"projectId", "jobId"},
					optional: []string{"job_variables_attributes", "force", "plan_digest"},
				},
				{name: "retry", doc: "Do this job and the later jobs again.", required: []string{"projectId", "jobId"}},
				{name: "cancel", doc: "Cancel a job, and its run with it.", required: []string{"projectId", "jobId"}},
			},
		},
	}
}

// moved are the twelve commands of systems with a command for each verb, and the calls that replace them.
func moved() []struct{ old, name, action string } {
	return []struct{ old, name, action string }{
		{"list_pipelines", CommandBrowse, "list"},
		{"get_pipeline", CommandBrowse, "get"},
		{"list_pipeline_jobs", CommandBrowse, "jobs"},
		{"list_pipeline_trigger_jobs", CommandBrowse, "triggers"},
		{"get_pipeline_job", CommandBrowse, "job"},
		{"get_pipeline_job_output", CommandBrowse, "logs"},
		{"create_pipeline", CommandManage, "create"},
		{"retry_pipeline", CommandManage, "retry"},
		{"cancel_pipeline", CommandManage, "cancel"},
		{"play_pipeline_job", CommandJobs, "play"},
		{"retry_pipeline_job", CommandJobs, "retry"},
		{"cancel_pipeline_job", CommandJobs, "cancel"},
	}
}

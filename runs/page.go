package runs

import (
	"encoding/json"
	"time"
)

// Order is the order of a list of runs. Runs that are equal in it are ordered by their numbers, in the same direction.
type Order string

// The orders of runs.
const (
	ByID        Order = "id"         // the default
	ByStatus    Order = "status"     // by the bytes of the word
	ByRef       Order = "ref"        // by its bytes
	ByUpdatedAt Order = "updated_at" // by time
	ByUserID    Order = "user_id"    // by the bytes of the user's name
)

// Filter selects and orders runs. All set fields must match; a zero field selects all runs. Runs that were started by
// another run are left out, unless Source is [SourceParent].
type Filter struct {
	// Project is the project of the runs.
	Project string `json:"project_id,omitempty"`
	Status  Status `json:"status,omitempty"`
	// Ref, User, Name and Source must be equal.
	Ref string `json:"ref,omitempty"`
	// SHA is the digest of the pipeline, or at least its first 7 digits.
	SHA        string `json:"sha,omitempty"`
	User       string `json:"username,omitempty"`
	Name       string `json:"name,omitempty"`
	Source     string `json:"source,omitempty"`
	YAMLErrors *bool  `json:"yaml_errors,omitempty"`
	// UpdatedAfter and UpdatedBefore are bounds for the time of the run's last update: it must be later and earlier than
	// these.
	UpdatedAfter  time.Time `json:"updated_after,omitzero"`
	UpdatedBefore time.Time `json:"updated_before,omitzero"`
	// OrderBy is the order, "" for [ByID]. The latest or largest come first unless Ascending is set.
	OrderBy   Order `json:"order_by,omitempty"`
	Ascending bool  `json:"ascending,omitempty"`
	// Snapshot leaves out runs with larger numbers, so that runs created between two pages do not shift the pages. It is
	// the Snapshot of the first page; 0 means all.
	Snapshot int64 `json:"snapshot,omitempty"`
	Paging
}

// The number of items on a page.
const (
	defaultPerPage = 20
	MaxPerPage     = 100
)

// Paging selects a page of a list.
type Paging struct {
	// Page counts from 1; 0 means 1. A page after the end is empty, which is not an error.
	Page int `json:"page,omitempty"`
	// PerPage is the number of items on a page, at most [MaxPerPage]; 0 means 20.
	PerPage int `json:"per_page,omitempty"`
}

// JobFilter selects the jobs of a run.
type JobFilter struct {
	// Scope are the statuses of the jobs, nil for all.
	Scope []Status `json:"scope,omitempty"`
	// IncludeRetried lists all jobs in the order of their numbers. Otherwise the list has the latest job of each step, in
	// the order of the pipeline, and then the commit.
	IncludeRetried bool `json:"include_retried,omitempty"`
	Paging
}

// Page is a part of a list. In JSON, Items is never null.
type Page[T any] struct {
	Items []T `json:"items"`
	// Page and PerPage are the requested values, with the defaults filled in.
	Page    int `json:"page"`
	PerPage int `json:"per_page"`
	// Total is the number of items on all pages.
	Total int `json:"total"`
	// NextPage is the number of the next page, 0 if this is the last.
	NextPage int `json:"next_page"`
	// Snapshot is the value for [Filter] that keeps further pages consistent with this page. Zero for other lists.
	Snapshot int64 `json:"snapshot,omitempty"`
}

// MarshalJSON writes an empty list, not null, without items.
func (p Page[T]) MarshalJSON() ([]byte, error) {
	type plain Page[T]
	p.Items = orEmpty(p.Items)
	return json.Marshal(plain(p))
}

// The number of lines of a log.
const (
	defaultLines = 200
	MaxLines     = 10_000
)

// LogRange selects lines of a log. The zero LogRange selects the last 200 lines.
type LogRange struct {
	// Start is the first line, from 1. A negative number counts from the end: -1 is the last line. 0 selects the last
	// lines.
	Start int `json:"start,omitempty"`
	// Limit is the number of lines, at most [MaxLines]; 0 means 200.
	Limit int `json:"limit,omitempty"`
}

// Log has lines of the log of a job.
type Log struct {
	// Trace are the lines, each with a line feed after it.
	Trace string `json:"trace"`
	// TotalLines is the number of all lines, ShownLines the number of lines in Trace.
	TotalLines int `json:"total_lines"`
	ShownLines int `json:"shown_lines"`
	// StartLine is the number of the first line in Trace, from 1; 0 if Trace is empty.
	StartLine int `json:"start_line"`
	// NextStart is the Start with which to continue, even before further lines exist.
	NextStart int `json:"next_start"`
	// HasMore means that lines follow those in Trace.
	HasMore bool `json:"has_more"`
	// Complete means that the job has ended, so that no lines are added.
	Complete bool `json:"complete"`
}

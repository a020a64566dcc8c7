package gocode

import (
	"context"
	"go/format"

	"github.com/millrace-go/millrace/actions"
)

// Format formats Go files as gofmt does. The outcome has no data; its files are the changed files.
type Format struct {
	// Files are the files to format. Files that are not Go are skipped. No files and no input_from means the Go files that
	// the run has changed so far.
	Files []string `json:"files,omitempty" doc:"Files to format. Default: the Go files changed so far."`
	// OnError is for files that do not parse: "stop", the default, fails the step; "continue" leaves the file unchanged
	// with a warning.
	OnError string `json:"on_error,omitempty" enum:"stop,continue" doc:"Whether a file that does not parse fails the step (stop) or is left with a warning (continue). Default: stop."`
}

// Spec implements [actions.Action].
func (Format) Spec() actions.Spec {
	return actions.Spec{Name: "go_format", Summary: "Format Go files as gofmt does"}
}

// Touches implements [actions.Toucher]: without files the step depends on all steps before it.
func (f Format) Touches() (reads, writes []string, known bool) {
	return f.Files, f.Files, len(f.Files) > 0
}

// Run implements [actions.Action].
func (f Format) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	return editEach(ctx, c, f.OnError == onErrorContinue, func(_ string, old []byte) ([]byte, error) {
		return format.Source(old)
	})
}

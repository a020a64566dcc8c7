package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// handler runs the pipelines that are posted to it. An Executor is safe for concurrent use.
type handler struct {
	tree afero.Fs
	host millrace.Executor
}

// answer is the answer to the sender: the changes, the diff of a dry run, or a code and the problems to fix.
type answer struct {
	Code     string                 `json:"code,omitempty"`
	Error    string                 `json:"error,omitempty"`
	Problems []millrace.Problem     `json:"problems,omitempty"`
	Warnings []string               `json:"warnings,omitempty"`
	Changed  *millrace.FilesChanged `json:"changed,omitempty"`
	Diff     string                 `json:"diff,omitempty"`
	Backup   bool                   `json:"backup,omitempty"`
	Written  bool                   `json:"written,omitempty"`
}

// statuses maps codes of errors to HTTP statuses. Any other code is an error of the server.
var statuses = map[string]int{
	"":                     http.StatusOK,
	"invalid_pipeline":     http.StatusBadRequest,
	"step_failed":          http.StatusUnprocessableEntity,
	"expect_failed":        http.StatusUnprocessableEntity,
	"INTERPOLATION_FAILED": http.StatusUnprocessableEntity,
	"limit":                http.StatusUnprocessableEntity,
	"blocked":              http.StatusForbidden,
	"read_only":            http.StatusForbidden,
	"conflict":             http.StatusConflict,
	"locked":               http.StatusServiceUnavailable,
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, millrace.MaxPipelineBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	a, err := h.run(r.Context(), body)
	if err != nil {
		a.Code, a.Error, a.Written = millrace.ErrorCode(err), err.Error(), millrace.Written(err)
		if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
			a.Error, a.Problems = "", invalid.Problems
		}
	}
	status, known := statuses[a.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // a sender that has disconnected needs no answer
}

// run decodes, plans and commits.
func (h handler) run(ctx context.Context, body []byte) (a answer, err error) {
	p, err := millrace.Decoder{Lenient: true}.Decode(body)
	if err != nil {
		return a, err
	}
	plan, err := h.host.Plan(ctx, h.tree, p)
	if plan == nil {
		return a, err
	}
	defer plan.Close()
	res := plan.Result()
	switch {
	case err != nil: // a step has failed: there is nothing to commit
	case p.Options().DryRun:
		a.Diff = plan.Diff()
	default:
		res, err = plan.Commit(ctx)
	}
	a.Warnings, a.Backup = res.AllWarnings(), res.BackupID != ""
	if err == nil || millrace.Written(err) {
		a.Changed = &res.FilesChanged
	}
	return a, err
}

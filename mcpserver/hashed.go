package mcpserver

import (
	"context"
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/runs"
)

// hashed returns an error for a pipeline with a step that can overwrite text that nobody has read, if the server
// requires the hashes of edited files. Steps that name the text that they replace have read it.
func (s *Server) hashed(p millrace.Pipeline) error {
	if !s.cfg.RequireHash {
		return nil
	}
	var problems []millrace.Problem
	add := func(i int, param, hint, format string, args ...any) {
		problems = append(problems, millrace.Problem{
			Pointer: fmt.Sprintf("/steps/%d/params/%s", i, param), Code: "missing_param",
			Message: fmt.Sprintf(format, args...), Hint: hint,
		})
	}
	for i, step := range p.Steps() {
		switch a := step.Action.(type) {
		case actions.EditFiles:
			if !a.RequireHash {
				const hint = "set it to true, and give each edit the content_hash that fs_read shows"
				add(i, "require_hash", hint, "this server requires 'require_hash'")
			}
		case actions.Create:
			if a.Overwrite || step.Bind["/overwrite"] != "" {
				const hint = "use edit_files with overwrite and content_hash"
				add(i, "overwrite", hint, "this server takes no 'overwrite' without a hash")
			}
		}
	}
	if len(problems) > 0 {
		return &millrace.ValidationError{Problems: problems}
	}
	return nil
}

// hashing refuses pipelines that could overwrite text that nobody has read.
type hashing struct {
	runs.Manager
	s *Server
}

func (m hashing) Create(ctx context.Context, c runs.CreateParams) (runs.Run, error) {
	if err := m.s.hashed(c.Pipeline); err != nil {
		return runs.Run{}, err
	}
	return m.Manager.Create(ctx, c)
}

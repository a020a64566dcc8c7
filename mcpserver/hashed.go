package mcpserver

import (
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
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
	overwrites := func(i int, can bool) {
		if can {
			const hint = "use edit_files with overwrite and content_hash"
			add(i, "overwrite", hint, "this server takes no 'overwrite' without a hash")
		}
	}
	for i, step := range p.Steps() {
		switch a := step.Action.(type) {
		case actions.EditFiles:
			if !a.RequireHash {
				const hint = "set it to true, and give each edit the content_hash that fs_read shows"
				add(i, "require_hash", hint, "this server requires 'require_hash'")
			}
		case actions.Create:
			overwrites(i, a.Overwrite || step.Bind["/overwrite"] != "")
		case actions.Copy:
			overwrites(i, a.Overwrite || step.Bind["/overwrite"] != "")
		case actions.Rename:
			overwrites(i, a.Overwrite || step.Bind["/overwrite"] != "")
		case actions.Patch:
			overwrites(i, a.Overwrite || step.Bind["/overwrite"] != "")
		}
	}
	if len(problems) > 0 {
		return &millrace.ValidationError{Problems: problems}
	}
	return nil
}

package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
)

// home replaces a "~" at the beginning of a path with the home of the user. The file system checks that the path is in
// the tree.
func home(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.ToSlash(dir) + path[1:]
}

// canonical returns the name that results use for a path of a call. A path outside the tree has none, and is returned
// unchanged.
func (s *Server) canonical(path string) string {
	path = home(path)
	if namer, ok := s.cfg.FS.(capability.Namer); ok {
		if name, err := namer.Canonical(path); err == nil {
			return name
		}
		return path
	}
	return pathpkg.Clean(path)
}

// step makes a pipeline of one step, without templates: what a model writes to a file is plain text. Its problems use
// the names of the tool: rename maps pointers to parameters to pointers to arguments, and the first matching prefix
// applies.
func (c *call) step(action string, params map[string]any, dryRun bool, rename ...[2]string) (millrace.Pipeline, error) {
	text, err := json.Marshal(map[string]any{
		"name": c.tool.name, "dry_run": dryRun,
		"steps": []any{map[string]any{"id": ownStep, "action": action, "raw": true, "params": params}},
	})
	if err != nil {
		return millrace.Pipeline{}, err
	}
	p, err := c.cfg.Decoder.Decode(text)
	var invalid *millrace.ValidationError
	if errors.As(err, &invalid) {
		problems := make([]millrace.Problem, len(invalid.Problems))
		for i, p := range invalid.Problems {
			p.Pointer = argument(strings.TrimPrefix(p.Pointer, "/steps/0/params"), rename)
			p.Line, p.Column, p.Step = 0, 0, ""
			problems[i] = p
		}
		return p, &millrace.ValidationError{Problems: problems}
	}
	return p, err
}

// pointer returns a JSON pointer.
func pointer(parts ...any) string {
	var b strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&b, "/%v", part)
	}
	return b.String()
}

// argument returns the pointer into the arguments for a pointer into the parameters.
func argument(pointer string, rename [][2]string) string {
	for _, r := range rename {
		if rest, ok := strings.CutPrefix(pointer, r[0]); ok && (rest == "" || rest[0] == '/') {
			return r[1] + rest
		}
	}
	return pointer
}

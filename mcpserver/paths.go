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

// home puts the home of the user in place of a "~" at the beginning of a path. The file system checks that
// the path lies in the tree.
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

// canonical is the name that results have for a path of a call. A path out of the tree has none, and stays as it is.
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

// step makes a pipeline of one step, without templates: what a model writes into a file is text. The names of its
// problems are those of the tool: rename maps the pointers of parameters to those of arguments, the longest beginning
// first.
func (c *call) step(action string, params map[string]any, dryRun bool, rename ...[2]string) (millrace.Pipeline, error) {
	text, err := json.Marshal(map[string]any{
		"name": c.tool.name, "dry_run": dryRun,
		"steps": []any{map[string]any{"id": "step", "action": action, "raw": true, "params": params}},
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

// pointer is a JSON pointer.
func pointer(parts ...any) string {
	var b strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&b, "/%v", part)
	}
	return b.String()
}

// argument is the pointer in the arguments for one in the parameters.
func argument(pointer string, rename [][2]string) string {
	for _, r := range rename {
		if rest, ok := strings.CutPrefix(pointer, r[0]); ok && (rest == "" || rest[0] == '/') {
			return r[1] + rest
		}
	}
	return pointer
}

package lsp

import (
	"encoding/json"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Unsupported is a change, or a part of it, that the protocol cannot express.
type Unsupported struct {
	// Path is the path of the change, relative to the root of the tree.
	Path   string
	Reason string
}

// UnsupportedError reports that a plan does what the protocol cannot express. Nothing of the plan is written then.
type UnsupportedError struct {
	// Changes lists every such change, in path order. A path can occur twice, for its mode and for its text.
	Changes []Unsupported
}

// Error lists the first ten.
func (e *UnsupportedError) Error() string {
	texts := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		texts[i] = fsutil.Visible(c.Path) + ": " + c.Reason
	}
	text := "a workspace edit cannot say all of the plan; leave it out (Partial), or commit the plan itself"
	if len(texts) > 0 {
		text += ": " + actions.Few(texts, "; ")
	}
	return text
}

// Paths returns the paths of the changes.
func (e *UnsupportedError) Paths() []string {
	paths := make([]string, len(e.Changes))
	for i, one := range e.Changes {
		paths[i] = one.Path
	}
	return paths
}

// MarshalJSON returns the JSON of [millrace.DescribeError].
func (e *UnsupportedError) MarshalJSON() ([]byte, error) {
	return json.Marshal(millrace.DescribeError(e))
}

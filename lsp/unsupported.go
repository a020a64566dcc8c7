package lsp

import (
	"encoding/json"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// Unsupported is one thing that the protocol cannot say.
type Unsupported struct {
	// Path is that of the change, relative to the root of the tree.
	Path   string
	Reason string
}

// UnsupportedError reports that a plan does what the protocol cannot express. Nothing of the plan is written then.
type UnsupportedError struct {
	// Changes are all of it, in path order. A path can be there twice, for its mode and for its text.
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

// MarshalJSON gives what [millrace.DescribeError] returns.
func (e *UnsupportedError) MarshalJSON() ([]byte, error) {
	return json.Marshal(millrace.DescribeError(e))
}

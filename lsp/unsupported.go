package lsp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
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

// longestList is how many things the text of an error lists.
const longestList = 10

// Error lists the first ten.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	b.WriteString("a workspace edit cannot say all of the plan; leave it out (Partial), or commit the plan itself")
	for i, c := range e.Changes {
		if i == longestList {
			fmt.Fprintf(&b, "; and %d more", len(e.Changes)-i)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s: %s", sep, fsutil.Visible(c.Path), c.Reason)
	}
	return b.String()
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

package cli

import (
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// session has the state of a command that works on a tree. A command gets one from inTree. It converts arguments to
// paths with path and glob, makes a Pipeline and ends with change, or makes a Plan with x on fs and ends with
// applyPlan. It returns errors and prints none.
type session struct {
	*App
	// root is the directory of the tree, dir the working directory, both absolute; dir is root or below it.
	root, dir string
	// fs is the tree.
	fs *fsutil.RootFs
	// x has the settings from flags and configuration.
	x millrace.Executor
	// sure means that the command commits without asking, as with -y.
	sure bool
	// shows is set by commands that only show a plan. For them, a plan that would be blocked is not a failure.
	shows bool
	// digest is the digest of the plan that was shown as JSON or stored, for `apply --digest`.
	digest string
	// redone is the id of the commit that redo restores, "" for other commands.
	redone string
	// warned are the warnings already printed.
	warned []string
}

// path converts an argument that names a file or a directory, relative to the working directory, to a path relative to
// the root. The error is a usageError if that is outside the tree.
func (s *session) path(arg string) (string, error) { return treePath(s.root, s.dir, arg) }

// warn prints a warning only once, because warnings of the pipeline are also in the result.
func (s *session) warn(text string) {
	if !slices.Contains(s.warned, text) {
		s.warned = append(s.warned, text)
		s.talk("warning: %s", text)
	}
}

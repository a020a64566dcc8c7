package cli

import (
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// session is what a command needs that works on a tree. A command gets one from inTree; it turns arguments into paths
// with path and glob, makes a Pipeline and ends with change, or makes a Plan with x on fs and ends with applyPlan.
// It returns errors and prints none.
type session struct {
	*App
	// root is the directory of the tree, dir the working directory, both absolute; dir is root or below it.
	root, dir string
	// fs is the tree.
	fs *fsutil.RootFs
	// x has what flags and configuration say.
	x millrace.Executor
	// sure means that the command commits without asking, as with -y.
	sure bool
	// shows is set by commands that only show a plan. A plan that would be blocked is not a failure of such a command.
	shows bool
	// digest is that of the plan that was shown as JSON or stored, for `apply --digest`.
	digest string
	// redone is the id of the commit that redo makes again, "" for other commands.
	redone string
	// warned are the warnings that were printed.
	warned []string
}

// path turns an argument that names a file or a directory, counted from the working directory, into a path from the
// root. It is a usageError if that lies outside of the tree.
func (s *session) path(arg string) (string, error) { return treePath(s.root, s.dir, arg) }

// warn prints a warning, unless it was printed before: those of the pipeline are in the result too.
func (s *session) warn(text string) {
	if !slices.Contains(s.warned, text) {
		s.warned = append(s.warned, text)
		s.talk("warning: %s", text)
	}
}

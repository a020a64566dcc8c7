package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

// allowTyped allows the programs of a pipeline that was typed at the prompt, and prints the output of its commands. What
// is typed is allowed by being typed; a pipeline in a file does not come here. A command runs in the sandbox where the
// system has one, and has no network. done has to be called after the run.
func (s *session) allowTyped(p millrace.Pipeline) (done func(), err error) {
	var policy command.Policy
	for _, step := range p.Steps() {
		a, ok := step.Action.(actions.Exec)
		switch {
		case !ok:
			continue
		case a.Shell != "":
			policy.Shell = true
		default:
			policy.Allow = append(policy.Allow, command.Pattern(a.Command)+" *")
			policy.Read = append(policy.Read, readsOf(a.Command)...)
		}
	}
	done = func() {}
	if policy.Allow == nil && !policy.Shell {
		return done, nil
	}
	// The copies must lie outside of the tree, which the user's own cache does not where the tree is a home directory.
	cache, err := os.UserCacheDir()
	if inside, relErr := filepath.Rel(s.root, resolved(cache)); err != nil || relErr == nil && filepath.IsLocal(inside) {
		if policy.Scratch, err = os.MkdirTemp("", "millrace-exec-"); err != nil {
			return done, err
		}
		done = func() { _ = os.RemoveAll(policy.Scratch) } // it has nothing but copies
	}
	if runtime.GOOS != "linux" {
		policy.Sandbox = command.BestEffort
	}
	slices.Sort(policy.Read)
	policy.Read = slices.Compact(policy.Read)
	s.x.Commands = policy
	s.x.Observe = s.printing(s.x.Observe)
	return done, nil
}

// readsOf returns the directories that a program needs to read: its own, and for a program of Go its GOROOT.
func readsOf(program string) []string {
	found, err := exec.LookPath(program)
	if err != nil || strings.HasPrefix(program, ".") {
		return nil // the command reports it, or it is in the tree
	}
	var reads []string
	for _, name := range []string{found, resolved(found)} {
		if !filepath.IsAbs(name) {
			continue
		}
		reads = append(reads, name)
		root := filepath.Dir(filepath.Dir(name))
		if info, err := os.Stat(filepath.Join(root, "pkg", "tool")); err == nil && info.IsDir() {
			reads = append(reads, root)
		}
	}
	return reads
}

// resolved returns a name with its links followed, or the name.
func resolved(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		return to
	}
	return name
}

// printing writes to stderr what commands print, as it comes, unless -q is given.
func (s *session) printing(next func(millrace.Event)) func(millrace.Event) {
	return func(e millrace.Event) {
		if out, ok := e.(millrace.StepOutput); ok && !s.flags.quiet {
			s.progress.Clear()
			_, _ = io.WriteString(s.Stderr, shown(s.Stderr, out.Text)) // nowhere else can a failure be reported
		}
		if next != nil {
			next(e)
		}
	}
}

package fleet

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/fleetlimits"
	"github.com/millrace-go/millrace/internal/show"
)

// Limits of a target, in bytes. They cannot be configured.
const (
	maxLabels   = 64       // labels, a number
	maxLabelLen = 64 << 10 // of all labels together
)

// Target names one tree of a fleet. Lists of targets may be untrusted input, so each target is checked before anything
// is opened, see [Target.Check].
type Target struct {
	// ID names the target in its campaign: valid UTF-8 without control characters, 1 to 1,024 bytes. Two targets of
	// one id are one and the same to a campaign: if they are one tree, the second one gets the result of the first.
	ID string `json:"id"`
	// Root is the place of the tree, in the words of [Trees]: for [Dirs] a directory. At most 4,096 bytes, no NUL.
	// It may be empty if the Trees go by the id.
	Root string `json:"root,omitempty"`
	// Labels are passed through, for Trees and for outcomes.
	Labels map[string]string `json:"labels,omitempty"`
}

// TargetError reports an invalid target. Nothing that it names was opened.
type TargetError struct {
	ID     string // the given id, cut to 100 characters
	Reason string
}

// Error names the target and the reason.
func (e *TargetError) Error() string { return fmt.Sprintf("target %q: %s", e.ID, e.Reason) }

// MarshalJSON returns the code, the message and the paths.
func (e *TargetError) MarshalJSON() ([]byte, error) { return errorform.Marshal(e.Code(), e) }

// Code returns "invalid_target".
func (e *TargetError) Code() string { return CodeInvalidTarget }

// Check returns a *TargetError if a field of the target is invalid, and nil otherwise.
func (t Target) Check() error {
	size := 0
	for key, value := range t.Labels {
		size += len(key) + len(value)
	}
	reason := ""
	switch {
	case t.ID == "":
		reason = "the id is empty"
	case len(t.ID) > fleetlimits.IDLen:
		reason = fmt.Sprintf("the id has %d bytes, more than %d", len(t.ID), fleetlimits.IDLen)
	case !utf8.ValidString(t.ID) || strings.ContainsFunc(t.ID, unicode.IsControl):
		reason = "the id must be valid UTF-8 without control characters"
	case len(t.Root) > fleetlimits.RootLen:
		reason = fmt.Sprintf("the root has %d bytes, more than %d", len(t.Root), fleetlimits.RootLen)
	case strings.ContainsRune(t.Root, 0):
		reason = "the root has a NUL in it"
	case len(t.Labels) > maxLabels || size > maxLabelLen:
		reason = fmt.Sprintf("%d labels with %d bytes, more than %d and %d", len(t.Labels), size, maxLabels,
			maxLabelLen)
	default:
		return nil
	}
	return &TargetError{ID: cut(t.ID, 100), Reason: reason}
}

// cut returns at most that many bytes of a text, as valid UTF-8.
func cut(text string, most int) string {
	text, _ = show.Cut(text, 4*most)
	return show.Within(strings.ToValidUTF8(text, "\uFFFD"), most)
}

// Paths returns directories as targets: the id and the root of each are the given path. A directory that is given more
// than once, by any names or links, is one target, with its first name. A directory inside another directory of the
// list is a [TargetError] without any targets, because both would change the same files.
func Paths(dirs ...string) iter.Seq2[Target, error] {
	return func(yield func(Target, error) bool) {
		var targets []Target
		of := make(map[string]string) // by real path, the given name
		for _, dir := range dirs {
			real := realPath(dir)
			if _, twice := of[real]; !twice {
				of[real] = dir
				targets = append(targets, Target{ID: dir, Root: dir})
			}
		}
		for _, t := range targets {
			for at := realPath(t.Root); filepath.Dir(at) != at; {
				at = filepath.Dir(at)
				if outer, within := of[at]; within {
					yield(Target{}, &TargetError{ID: cut(t.ID, 100),
						Reason: fmt.Sprintf("it lies in the tree of target '%s': leave one out", cut(outer, 100))})
					return
				}
			}
		}
		for _, t := range targets {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// realPath returns the absolute path of a directory without links, as far as it can be resolved.
func realPath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// Targets returns the targets of a list.
func Targets(list ...Target) iter.Seq2[Target, error] {
	return func(yield func(Target, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Trees open the trees of targets. It is called from several goroutines, and again for each attempt.
type Trees interface {
	// Open opens the tree of a target. An error is the outcome [CodeTreeUnavailable] of that target, and Open is tried
	// again a little later. A panic is that outcome too, but final.
	Open(ctx context.Context, t Target) (Tree, error)
}

// Tree is an open tree.
type Tree struct {
	// FS is the file system for the pipeline.
	FS afero.Fs
	// Base names the opened version, such as the id of a commit, so that the same campaign runs again on another version.
	// Empty means that the target is always the same tree.
	Base string
	// Close is called once, at the end of the run, with its Result and error: it releases the resources of Open, and
	// publishes a tree that is only a copy. If the run was committed before, by an attempt that did not reach Close, the
	// Result is Replayed, and Close publishes it too. An error turns a success into a failure. The context may already be
	// done. Nil means nothing to do.
	Close func(ctx context.Context, res *millrace.Result, err error) error
}

// Dirs are Trees whose roots are directories of the system. The zero Dirs open any directory; a relative root is in the
// working directory.
type Dirs struct {
	// Within, if not empty, is the directory that all roots are relative to and cannot leave: neither by "..", nor by an
	// absolute name, nor by a symbolic link. Set it if the targets are untrusted.
	Within string
}

// Open opens the directory t.Root as a [fsutil.RootFs].
func (d Dirs) Open(_ context.Context, t Target) (Tree, error) {
	if t.Root == "" {
		return Tree{}, &TargetError{ID: cut(t.ID, 100), Reason: "it has no root"}
	}
	dir := t.Root
	if d.Within != "" {
		if !filepath.IsLocal(t.Root) {
			return Tree{}, &TargetError{ID: cut(t.ID, 100),
				Reason: fmt.Sprintf("the root %q leads out of the directory of all trees", cut(t.Root, 100))}
		}
		dir = filepath.Join(d.Within, t.Root)
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return Tree{}, err
	}
	if d.Within != "" {
		if err := d.holds(root, t); err != nil {
			_ = root.Close() // nothing was written
			return Tree{}, err
		}
	}
	return Tree{FS: root, Close: func(context.Context, *millrace.Result, error) error { return root.Close() }}, nil
}

// holds returns an error unless the opened directory is the directory that the root leads to inside Within. It is
// called after the opening, so that a link that is put there during the opening has no effect.
func (d Dirs) holds(opened *fsutil.RootFs, t Target) error {
	within, err := os.OpenRoot(d.Within)
	if err != nil {
		return err
	}
	defer within.Close()
	want, err := within.Stat(t.Root)
	if err != nil {
		return err
	}
	got, err := opened.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(want, got) {
		return &TargetError{ID: cut(t.ID, 100),
			Reason: fmt.Sprintf("the root %q is not what it was a moment ago", cut(t.Root, 100))}
	}
	return nil
}

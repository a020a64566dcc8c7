package oneline

import (
	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Remove are the arguments of `millrace rm SRC…`.
type Remove struct {
	Common
	// Sources are names and globs, at least one.
	Sources []string
	// Recursive also removes directories, with everything in them.
	Recursive, NoIgnore bool
}

// Remove returns the pipeline: deleted files go to the trash.
func (w Where) Remove(r Remove) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	expect, err := r.files()
	if err != nil {
		return none, err
	}
	if len(r.Sources) == 0 {
		return none, usage("", "there is nothing to remove")
	}
	dirs := withFlag
	if r.Recursive {
		dirs = taken
	}
	from, err := w.sources(r.Sources, dirs)
	if err != nil {
		return none, err
	}
	if r.NoIgnore && len(from.globs) == 0 {
		return none, usage("leave it out", "--no-ignore goes with globs")
	}
	act := func(files []string) actions.Action { return actions.Delete{Files: files, Recursive: r.Recursive} }
	work := moving{word: "remove", noIgnore: r.NoIgnore, expect: expect, named: from.files}
	work.add(from, act, false)
	return work.build(r.Common, "rm", r.Sources[0])
}

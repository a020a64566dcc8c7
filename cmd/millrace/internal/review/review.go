// Package review decides on a plan hunk by hunk. A [Review] is a state machine over a plan and keys that shows what it
// asks for on a writer; it knows no terminal. The hunks of a file are read when its turn comes, so that the first
// question of a large plan is there at once.
package review

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
)

// Keys gives one key after the other; a key that has no character is none of those that do something. The error is that
// of an input that has ended, which does not end a review properly, or of a context that is done.
type Keys interface {
	Key(ctx context.Context) (rune, error)
}

// Editor shows a text to the user in an editor and returns what is left of it.
type Editor func(text string) (string, error)

// ErrAborted reports that the user wants nothing of the plan.
var ErrAborted = errors.New("the review was aborted: nothing is taken")

// Review is a plan of which each part is taken or left. Make one with [New]. It is not safe for concurrent use.
type Review struct {
	// Edit opens the user's editor. Nil means that hunks cannot be edited.
	Edit Editor
	// Style is how hunks are shown.
	Style render.Style

	plan    *millrace.Plan
	files   []*file
	dirs    []dir
	at      place
	history []step
	// shown is the file whose name stands above the hunks that were shown last, or -1.
	shown int
	out   io.Writer
	keys  Keys
	// revised is the plan with what was taken, once the review has come to its end.
	revised *millrace.Plan
}

// place is where a review stands: at an item of a file.
type place struct{ file, item int }

// New returns the review of a plan of which nothing is decided. It reads no file.
func New(plan *millrace.Plan) *Review {
	r := &Review{plan: plan, shown: -1}
	r.files, r.dirs = outline(plan)
	return r
}

// Run asks until everything is decided or the user has stopped, and returns the plan with what was taken: what is not
// decided then is left. The error is [ErrAborted] if the user wants nothing, that of the keys, or that of ctx. Called
// again after that, it goes back to the last decision.
func (r *Review) Run(ctx context.Context, keys Keys, out io.Writer) (*millrace.Plan, error) {
	r.keys, r.out, r.shown = keys, out, -1
	if r.revised != nil {
		if r.revised = nil; r.item().is != undecided {
			r.back()
		}
	}
	if len(r.files) == 0 {
		return r.plan, nil
	}
	for show := true; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.files[r.at.file].items == nil {
			r.load(r.at.file)
		}
		if show {
			r.show()
		}
		r.prompt()
		key, err := keys.Key(ctx)
		if err != nil {
			return nil, err
		}
		before := r.at
		again, done, err := r.press(ctx, key)
		if err != nil {
			return nil, err
		}
		if done && r.finish() {
			return r.revised, nil
		}
		show = again || done || before != r.at
	}
}

// press executes a key. again means that the place has to be shown again although it is the same, done that there
// is nothing left to ask.
func (r *Review) press(ctx context.Context, key rune) (again, done bool, err error) {
	switch key {
	case 'y', 'n':
		r.save(r.at.file)
		r.item().is, r.item().text = decisionOf(key), nil
		return false, !r.next(), nil
	case 'a', 'd':
		r.save(r.at.file)
		r.decideRest(decisionOf(key))
		return false, !r.next(), nil
	case 'A', 'D':
		r.decideAll(decisionOf(key))
		return false, true, nil
	case 't':
		ok, err := r.takeLike(ctx)
		return false, ok && !r.next(), err
	case 's':
		return r.split(), false, nil
	case 'e':
		ok, err := r.edit()
		return !ok, ok && !r.next(), err
	case 'b':
		if !r.back() {
			r.say("this is where the review began")
		}
		return true, false, nil
	case 'j':
		r.save()
		at := r.at
		if r.next(); r.at == at {
			r.history = r.history[:len(r.history)-1]
			r.say("nothing else is undecided")
		}
	case 'p':
		r.showFile()
		return true, false, nil
	case 'i':
		r.tell()
	case 'q':
		return false, true, nil
	case 'Q', ctrlC, ctrlD:
		return false, false, ErrAborted
	case '\r', '\n':
	default:
		r.help()
	}
	return false, false, nil
}

// Bytes of keys that a terminal sends when it makes no signal of them.
const (
	ctrlC = '\x03'
	ctrlD = '\x04'
)

// finish works out the plan with what was taken. If that is refused, the reason is shown at the file that it is about,
// and the review goes on there.
func (r *Review) finish() bool {
	plan, at, err := r.build()
	if err == nil {
		r.revised = plan
		return true
	}
	if at >= 0 {
		r.save()
		r.at = place{file: at}
		if f := r.files[at]; f.items == nil {
			r.load(at)
		}
	}
	r.shown = -1
	r.say(err.Error())
	return false
}

func (r *Review) item() *item { return &r.files[r.at.file].items[r.at.item] }

// say writes a line to the user.
func (r *Review) say(text string) {
	fmt.Fprintln(r.out, r.Style.Paint(render.Yellow, r.Style.Text(text)))
}

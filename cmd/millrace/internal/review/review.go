// Package review decides on a plan hunk by hunk. A [Review] is a state machine that reads keys and writes questions; it
// does not depend on a terminal. The hunks of a file are read only when they are needed, so that the first question of
// a large plan appears immediately.
package review

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
)

// Keys returns one key after the other; a key without a character has no effect. The error is that of an ended input,
// which does not end a review properly, or of a context that is done.
type Keys interface {
	Key(ctx context.Context) (rune, error)
}

// Editor shows a text to the user in an editor and returns the edited text.
type Editor func(text string) (string, error)

// ErrAborted reports that the user rejected the whole plan.
var ErrAborted = errors.New("the review was aborted: nothing is taken")

// Review is a plan of which each part is accepted or rejected. Make one with [New]. It is not safe for concurrent use.
type Review struct {
	// Edit opens the user's editor. Nil means that hunks cannot be edited.
	Edit Editor
	// Style is the style of hunks.
	Style render.Style

	plan    *millrace.Plan
	files   []*file
	dirs    []dir
	at      place
	history []step
	// shown is the file whose name was shown last, above its hunks, or -1.
	shown int
	out   io.Writer
	keys  Keys
	// revised is the plan with the accepted parts, at the end of the review.
	revised *millrace.Plan
}

// place is the position of a review: an item of a file.
type place struct{ file, item int }

// New returns the review of a plan without any decision. It reads no file.
func New(plan *millrace.Plan) *Review {
	r := &Review{plan: plan, shown: -1}
	r.files, r.dirs = outline(plan)
	return r
}

// Run asks until everything is decided or the user stops, and returns the plan with the accepted parts: undecided parts
// are rejected. The error is [ErrAborted] if the user rejects the whole plan, or an error of the keys or of ctx. Called
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

// press executes a key. again means that the same position must be shown again, done that no question is left.
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

// Bytes that a terminal sends for keys when it does not turn them into signals.
const (
	ctrlC = '\x03'
	ctrlD = '\x04'
)

// finish builds the plan with the accepted parts. If that is refused, the reason is shown at the file that caused it,
// and the review continues there.
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

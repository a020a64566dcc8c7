package web

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/internal/page"
)

// Plan is a plan for the decision of a person. All fields are required.
type Plan struct {
	// Open opens the current plan.
	Open func(ctx context.Context) (*millrace.Plan, error)
	// Make makes or stores the taken part of the change, and returns a line that describes it.
	Make func(ctx context.Context, taken *millrace.Plan) (done string, err error)
}

// ErrRejected reports that the person has rejected the plan.
var ErrRejected = errors.New("the plan was rejected in the browser")

// Decide serves the page of a plan at a loopback address until the person has decided, and returns the result of Make.
// The error is ErrRejected, an error of Make, or the cause of ctx. ready is called with the address to open.
func Decide(ctx context.Context, addr string, p Plan, ready func(address string)) error {
	serving, end := context.WithCancel(ctx)
	defer end()
	plan, err := p.Open(ctx)
	if err != nil {
		return err
	}
	s := newSite()
	v, err := newView(s, s.base, plan, false)
	if err != nil {
		return errors.Join(err, plan.Close())
	}
	d := &deciding{wanted: p, view: v, ctx: ctx, end: end}
	defer func() { d.plan.Close() }()
	d.get("{$}", d.locked(func(w http.ResponseWriter, r *http.Request) { d.list(w, r) }))
	d.get("file/{n}", d.locked(func(w http.ResponseWriter, r *http.Request) { d.one(w, r) }))
	d.get("lines/{n}", d.locked(func(w http.ResponseWriter, r *http.Request) { d.lines(w, r) }))
	d.post("decide", d.locked(d.decide))
	err = d.serve(serving, addr, ready)
	d.mu.Lock() // a commit in progress, or its rollback, ends first
	defer d.mu.Unlock()
	over := d.over
	d.over = true // a request that waits for the mutex decides nothing
	switch {
	case err != nil:
		return err
	case !over:
		return context.Cause(ctx)
	}
	return d.err
}

// deciding is a plan on its page. Requests come one after the other.
type deciding struct {
	wanted Plan
	ctx    context.Context // of the command, and not of a request: closing the browser ends no commit
	end    func()

	mu sync.Mutex
	*view
	over bool   // the decision is made
	done string // the line of Make
	err  error
}

// locked handles one request at a time. After the decision it shows the result.
func (d *deciding) locked(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.over {
			d.say(w, http.StatusConflict, "The decision is made", d.done)
			return
		}
		next(w, r)
	}
}

// decide records the choices of a form, and does the action of its button.
func (d *deciding) decide(w http.ResponseWriter, r *http.Request) {
	if r.PostForm.Get("digest") != d.digest {
		d.say(w, http.StatusConflict, "This is another plan now", "Nothing was written. Look at the plan again.")
		return
	}
	if err := d.note(r); err != nil {
		d.say(w, http.StatusBadRequest, "The form cannot be read", err.Error())
		return
	}
	switch r.PostForm.Get("do") {
	case "apply":
		d.apply(w, r.PostForm.Get("word"))
	case "reject":
		d.finish(w, "The plan was rejected", "Nothing was written.", ErrRejected)
	default:
		if !d.move(w, r) {
			d.say(w, http.StatusBadRequest, "The form cannot be read", "It has no button.")
		}
	}
}

// apply makes the taken part of the change, if the plan is still the plan that was shown.
func (d *deciding) apply(w http.ResponseWriter, word string) {
	plan, err := d.wanted.Open(d.ctx)
	if err != nil {
		d.say(w, http.StatusConflict, "The plan cannot be opened again", err.Error())
		return
	}
	now, err := newView(d.site, d.at, plan, false)
	switch {
	case err != nil:
		_ = plan.Close()
		d.say(w, http.StatusConflict, "The plan cannot be applied", err.Error())
		return
	case now.digest != d.digest:
		_ = d.plan.Close()
		d.view = now
		d.say(w, http.StatusConflict, "This is another plan now",
			"The plan has changed since it was shown. Nothing was written. Look at the plan again.")
		return
	}
	defer plan.Close()
	taken, _, err := review.Without(plan, d.left)
	if err != nil {
		d.say(w, http.StatusConflict, "This choice cannot be made", err.Error())
		return
	}
	defer taken.Close()
	switch result := taken.Result(); {
	case len(taken.Outline()) == 0 && len(plan.Outline()) > 0:
		d.say(w, http.StatusConflict, nothingTaken, "Take something, or reject the plan.")
		return
	case !review.NeedsWord(result):
	case !isYes(word):
		d.say(w, http.StatusConflict, needsWord, "The risk is high, or the change would be blocked. "+
			"To apply it, type yes in the field beside the button.")
		return
	default:
		taken = taken.WithForce(true)
	}
	done, err := d.wanted.Make(d.ctx, taken)
	if err != nil {
		title, advice := unmade(err)
		d.finish(w, title, err.Error()+advice, err)
		return
	}
	d.finish(w, "The change was made", done, nil)
}

// unmade returns the heading of the page for an error of Make, and advice to add to the message.
func unmade(err error) (title, advice string) {
	step, isStep := errors.AsType[*millrace.StepError](err)
	failed, isCommit := errors.AsType[*millrace.CommitError](err)
	switch {
	case isCommit && failed.State == millrace.CommitPending:
		return "The tree must be recovered", ". Run: millrace recover"
	case isStep && step.Committed:
		return "The change was made without a step that failed", ""
	case millrace.Written(err):
		return "The change was undone in part", ""
	}
	return "The change was not made", ""
}

// finish ends the decision, and ends the server after this answer was sent.
func (d *deciding) finish(w http.ResponseWriter, title, message string, err error) {
	d.over, d.done, d.err = true, message, err
	var p page.Page
	d.begin(&p, title)
	class := "done"
	if err != nil && !errors.Is(err, ErrRejected) {
		class = "stop"
	}
	p.Note(class, message)
	p.WriteString("</header>\n<p>This page can be closed.</p>\n")
	d.site.end(w, http.StatusOK, &p)
	d.end()
}

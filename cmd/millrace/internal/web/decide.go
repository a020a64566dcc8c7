package web

import (
	"net/http"

	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/runs"
)

// decide records the choices of a form, and does the action of its button.
func (s *store) decide(w http.ResponseWriter, r *http.Request, run *shownRun) {
	do := r.PostForm.Get("do")
	switch {
	case run.waits() && r.PostForm.Get("digest") != run.Run.Held.PlanDigest:
		s.say(w, http.StatusConflict, nothingDecided, anotherPlan)
	case do == "reject" && run.waits():
		s.decided(w, r, run, s.runs.Reject(s.ctx, run.Run))
	default:
		s.held(w, r, run, func(v *view, w http.ResponseWriter, r *http.Request) {
			if v.digest != r.PostForm.Get("digest") {
				s.say(w, http.StatusConflict, nothingDecided, anotherPlan)
				return
			}
			switch err := v.note(r); {
			case err != nil:
				s.say(w, http.StatusBadRequest, "The form cannot be read", err.Error())
			case do == "apply":
				s.approve(w, r, run)
			case !v.move(w, r):
				s.say(w, http.StatusBadRequest, nothingDecided, "The form has no such button.")
			}
		})
	}
}

// nothingDecided is the heading of a page for a decision that was not made, and anotherPlan a reason.
const (
	nothingDecided = "Nothing was decided"
	anotherPlan    = "The run now waits with another plan: review that plan."
)

// decided shows a run after a decision, or the error of the decision.
func (s *store) decided(w http.ResponseWriter, r *http.Request, run *shownRun, err error) {
	if err != nil {
		s.say(w, http.StatusConflict, nothingDecided, err.Error())
		return
	}
	http.Redirect(w, r, s.at(run.ID), http.StatusSeeOther)
}

// approve continues a run with the accepted parts of its plan. The caller holds the mutex.
func (s *store) approve(w http.ResponseWriter, r *http.Request, run *shownRun) {
	err := s.forget() // the tree may have changed since the plan was opened
	var v *view
	if err == nil {
		v, err = s.view(run)
	}
	if err != nil {
		s.decided(w, r, run, err)
		return
	}
	if v.digest != r.PostForm.Get("digest") {
		s.say(w, http.StatusConflict, nothingDecided, anotherPlan)
		return
	}
	taken, left, err := review.Without(v.plan, v.left)
	if err != nil {
		s.say(w, http.StatusConflict, "This choice cannot be made", err.Error())
		return
	}
	all, some := v.plan.Result(), taken.Result()
	nothing := len(taken.Outline()) == 0 && len(v.plan.Outline()) > 0
	if taken != v.plan {
		err = taken.Close()
	}
	switch {
	case err != nil:
	case nothing:
		s.say(w, http.StatusConflict, nothingTaken, "Take something, or reject the plan.")
		return
	case (all.WouldBlock || review.NeedsWord(some)) && !isYes(r.PostForm.Get("word")):
		s.say(w, http.StatusConflict, needsWord, "The risk is high, or the change would be blocked. "+
			"To approve it, type yes in the field beside the button.")
		return
	default:
		err = s.forget() // its files are about to change
	}
	if err == nil {
		decision := runs.PlayParams{PlanDigest: v.digest, Force: all.WouldBlock, Leave: left}
		err = s.runs.Approve(s.ctx, run.Run, decision)
	}
	s.decided(w, r, run, err)
}

package millrace

import (
	"fmt"
	"math"
	"time"

	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// flowForm is what stands in JSON for where a step leads to and how often it is tried. Nil is what is absent.
type flowForm struct {
	waysBack  []wayBackForm
	maxVisits *int
	timeout   *float64 // in seconds
	backoff   *float64
}

// wayBackForm is an entry of retry_if.
type wayBackForm struct {
	Step    string            `json:"step" param:"id"`
	Keyword *string           `json:"keyword,omitempty"`
	When    *condition.Fields `json:"when,omitempty"`
	Restart bool              `json:"restart,omitempty"`
}

// flowFormOf returns the form of a step that is to be written.
func flowFormOf(s Step) flowForm {
	f := flowForm{timeout: secondsOf(s.Timeout), backoff: secondsOf(s.Backoff)}
	if s.MaxVisits != 0 {
		f.maxVisits = &s.MaxVisits
	}
	for _, w := range s.RetryIf {
		form := wayBackForm{Step: w.Step, Restart: w.Restart}
		if w.Keyword != "" {
			form.Keyword = &w.Keyword
		}
		if !w.When.IsZero() {
			form.When = new(w.When.Fields())
		}
		f.waysBack = append(f.waysBack, form)
	}
	return f
}

func secondsOf(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}

// read puts what was read into the step.
func (f *flowForm) read(t *decoding, s *Step, at string) {
	for i, w := range f.waysBack {
		at := fmt.Sprintf("%s/retry_if/%d", at, i)
		way := Retry{Step: w.Step, Restart: w.Restart}
		if w.Keyword != nil {
			if way.Keyword = *w.Keyword; way.Keyword == "" {
				t.draft.problem(at+"/keyword", codeBadRetry, "", "step '%s': keyword cannot be empty", s.ID)
			}
		}
		if w.When != nil {
			var problems []condition.Problem
			way.When, problems = condition.New(*w.When)
			for _, p := range problems {
				t.draft.problem(at+"/when/"+p.Field, codeBadCondition, p.Hint, "%s", p.Message)
			}
		}
		if w.Keyword == nil && w.When == nil {
			t.draft.problem(at, codeBadRetry, "", "step '%s': retry_if needs a keyword or when", s.ID)
		}
		s.RetryIf = append(s.RetryIf, way)
	}
	if f.maxVisits != nil {
		if s.MaxVisits = *f.maxVisits; s.MaxVisits == 0 {
			s.MaxVisits = -1 // out of range, as it stands there
		}
	}
	s.Timeout = t.draft.duration(f.timeout, at+"/timeout", s.ID, "timeout", false)
	s.Backoff = t.draft.duration(f.backoff, at+"/backoff", s.ID, "backoff", true)
}

// duration returns seconds of a step, or of the pipeline if there is no id, as a duration. What is no whole number of milliseconds, or is 0 where that is not allowed,
// is a problem; the check of the step does the rest.
func (d *draft) duration(seconds *float64, at, id, field string, zero bool) time.Duration {
	if seconds == nil {
		return 0
	}
	ms := *seconds * 1000
	whole := math.Round(ms)
	switch {
	case *seconds == 0 && !zero:
		d.problem(at, codeBadTimeout, "leave it out for no limit", "%s must be more than 0, got 0", timed(id, field))
		return 0
	case math.Abs(whole) > 1e12:
		return time.Duration(math.MaxInt64/int64(time.Millisecond)) * time.Millisecond // beyond all limits
	case math.Abs(ms-whole) > 1e-6*max(1, math.Abs(ms)):
		d.problem(at, codeBadTimeout, "", "%s must have at most 3 decimals, got %v", timed(id, field), *seconds)
		return 0
	}
	return time.Duration(whole) * time.Millisecond
}

// readMaxSteps takes max_steps as it stands in JSON.
func (d *draft) readMaxSteps() {
	if d.mostSteps == nil {
		return
	}
	if d.maxSteps = *d.mostSteps; d.maxSteps == 0 {
		d.maxSteps = -1
	}
}

// plainStep returns a step in the one form that is read further: retry_if as a list, which may be an object of step ids
// and keywords, and the condition as an object, which may be "prev.error". The values stay where they stand in the
// text.
func plainStep(n *strictjson.Node) *strictjson.Node {
	object := func(at *strictjson.Node, members ...strictjson.Member) *strictjson.Node {
		return &strictjson.Node{Kind: strictjson.Object, Offset: at.Offset, End: at.End, Members: members}
	}
	text := func(at *strictjson.Node, s string) *strictjson.Node {
		return &strictjson.Node{Kind: strictjson.String, Offset: at.Offset, End: at.End, Text: s}
	}
	copied := false
	set := func(i int, v *strictjson.Node) {
		if !copied {
			c := *n
			c.Members = append([]strictjson.Member(nil), n.Members...)
			n, copied = &c, true
		}
		n.Members[i].Value = v
	}
	for i, m := range n.Members {
		switch v := m.Value; {
		case m.Name == "condition" && v.Kind == strictjson.String && v.Text == condition.Short:
			set(i, object(v, strictjson.Member{Name: "type", NameOffset: v.Offset, Value: text(v, string(condition.TypePrevError))}))
		case m.Name == "retry_if" && v.Kind == strictjson.Object:
			list := &strictjson.Node{Kind: strictjson.Array, Offset: v.Offset, End: v.End}
			for _, way := range v.Members {
				name := &strictjson.Node{Kind: strictjson.String, Offset: way.NameOffset, End: way.Value.Offset, Text: way.Name}
				list.Elems = append(list.Elems, object(way.Value,
					strictjson.Member{Name: "step", NameOffset: way.NameOffset, Value: name},
					strictjson.Member{Name: "keyword", NameOffset: way.Value.Offset, Value: way.Value}))
			}
			set(i, list)
		}
	}
	return n
}

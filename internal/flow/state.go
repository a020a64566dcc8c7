package flow

import (
	"errors"
	"fmt"
	"strconv"
)

// State is all data of a machine except its steps. It can be compared with ==, and stored as JSON.
type State struct {
	// Step, Visit and Attempt are the position, as returned by At. Restore compares them with the position that the
	// outcomes lead to. So it notices the state of other steps in most cases; to be certain, the caller must check that
	// the steps are the same.
	Step    int `json:"step"`
	Visit   int `json:"visit,omitzero"`
	Attempt int `json:"attempt,omitzero"`
	// Outcomes are the outcomes reported to the machine, in order: s (skipped), + (succeeded), - (failed), r (failed,
	// retryable), x (stopped) or i (interrupted), each followed by the number of the way back that held, if one did.
	Outcomes string `json:"outcomes"`
}

// letters are the letters of the outcomes in a State.
var letters = [...]struct {
	letter byte
	Outcome
}{
	{'s', Outcome{Status: Skipped}}, {'+', Outcome{Status: Succeeded}}, {'-', Outcome{Status: Failed}},
	{'r', Outcome{Status: Failed, Retryable: true}}, {'x', Outcome{Status: Stopped}}, {'i', Outcome{Status: Interrupted}},
}

// spell appends an outcome that Done has processed.
func spell(said []byte, o Outcome) []byte {
	for _, l := range letters {
		if o.Status == l.Status && o.Retryable == l.Retryable {
			said = append(said, l.letter)
		}
	}
	if o.Retry > 0 {
		said = strconv.AppendInt(said, int64(o.Retry), 10)
	}
	return said
}

// read returns the first outcome of a text, and the rest of the text.
func read(text string) (o Outcome, rest string, err error) {
	for _, l := range letters {
		if text[0] == l.letter {
			o = l.Outcome
		}
	}
	if o == (Outcome{}) {
		return o, "", fmt.Errorf("%q is not an outcome", text[0])
	}
	digits := 1
	for digits < len(text) && digits < 4 && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	if digits > 1 {
		o.Retry, err = strconv.Atoi(text[1:digits])
	}
	return o, text[digits:], err
}

// State returns the state for Restore.
func (m *Machine) State() State {
	s := State{Step: m.step, Outcomes: string(m.said)}
	if at, ok := m.At(); ok {
		s.Visit, s.Attempt = at.Visit, at.Attempt
	}
	return s
}

// Restore puts the machine into a state of an earlier machine with the same steps: from here on, its results and its
// behaviour are the same. A state that no such machine can have had is an error, and leaves the machine unchanged. The
// work is bounded by the limits of the machine, however long the state is.
func (m *Machine) Restore(s State) error {
	restored := begin(m.steps, m.maxSteps)
	for n, text := 1, s.Outcomes; text != ""; n++ {
		at, ok := restored.At()
		if !ok {
			return fmt.Errorf("state: outcome %d comes after the end", n)
		}
		o, rest, err := read(text)
		if err == nil {
			err = restored.fits(at, o)
		}
		if err != nil {
			return fmt.Errorf("state: outcome %d: %w", n, err)
		}
		restored.Done(o)
		text = rest
	}
	switch is := restored.State(); {
	case is.Outcomes != s.Outcomes:
		return errors.New("state: the outcomes are not spelled as the machine spells them")
	case is != s:
		return fmt.Errorf("state: the outcomes lead to step %d, visit %d, attempt %d, not to %d, %d, %d",
			is.Step, is.Visit, is.Attempt, s.Step, s.Visit, s.Attempt)
	}
	*m = *restored
	return nil
}

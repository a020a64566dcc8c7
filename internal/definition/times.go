package definition

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Time is a field of a pipeline or a step with a time in seconds.
type Time struct {
	Name string // in JSON
	max  time.Duration
	zero bool // it may be 0
}

// Timeout returns the field of a step for the limit of an attempt.
func Timeout() Time { return Time{Name: "timeout", max: 24 * time.Hour} }

// Backoff returns the field of a step for the wait before the second attempt. It may be 0.
func Backoff() Time { return Time{Name: "backoff", max: time.Hour, zero: true} }

// Deadline returns the field of a pipeline for the limit of a run.
func Deadline() Time { return Time{Name: "deadline_seconds", max: 7 * 24 * time.Hour} }

// MaxSeconds returns the largest number of seconds of the field.
func (f Time) MaxSeconds() int { return int(f.max.Seconds()) }

// Duration converts seconds to a duration. It returns 0 and false for seconds that are out of range or not a whole
// number of milliseconds.
func (f Time) Duration(seconds float64) (time.Duration, bool) {
	const slip = 1e-6 // allows for binary fractions; a tenth of a millisecond is far more
	ms := seconds * 1000
	whole := math.Round(ms)
	if whole < 0 || whole > float64(f.max.Milliseconds()) || whole == 0 && !f.zero || math.Abs(ms-whole) > slip {
		return 0, false
	}
	return time.Duration(whole) * time.Millisecond, true
}

// Holds reports whether a time that was not read from JSON is allowed. Zero means that the field is absent.
func (f Time) Holds(d time.Duration) bool {
	return d >= 0 && d <= f.max && d%time.Millisecond == 0
}

// Problem returns the hint and the message for seconds that are not allowed, in the step of that id, or in the pipeline
// if id is "".
func (f Time) Problem(seconds float64, id string) (hint, message string) {
	rule := fmt.Sprintf("be more than 0 and at most %d seconds", f.MaxSeconds())
	switch {
	case seconds == 0:
		hint = "leave it out for no limit"
	case seconds > 0 && seconds <= f.max.Seconds():
		rule = "have at most 3 decimals"
	case f.zero:
		rule = fmt.Sprintf("be 0 to %d seconds", f.MaxSeconds())
	}
	shown := strconv.FormatFloat(seconds, 'f', -1, 64)
	if math.Abs(seconds) >= 1e21 {
		shown = strconv.FormatFloat(seconds, 'g', -1, 64)
	}
	return hint, fmt.Sprintf("%s must %s, got %s", nameTime(id, f.Name), rule, shown)
}

// SecondsOf returns a duration in seconds, nil for zero.
func SecondsOf(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}

// nameTime names a time of a step, or of the pipeline if id is "".
func nameTime(id, field string) string {
	if id == "" {
		return field
	}
	return "step '" + id + "': " + field
}

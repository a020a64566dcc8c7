package definition_test

import (
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/definition"
)

// The limits of each field are inclusive, and a time is a whole number of milliseconds.
func TestTimes(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	for _, c := range []struct {
		field   definition.Time
		seconds float64
		want    time.Duration
		hint    string
		message string // "" if the field can hold the seconds
	}{
		{field: definition.Timeout(), seconds: 0.001, want: time.Millisecond},
		{field: definition.Timeout(), seconds: 1.1, want: 1100 * time.Millisecond},
		{field: definition.Timeout(), seconds: 86400, want: 24 * time.Hour},
		{field: definition.Backoff(), seconds: 0},
		{field: definition.Deadline(), seconds: week.Seconds(), want: week},
		{
			field: definition.Timeout(), seconds: 0, hint: "leave it out for no limit",
			message: "step 's': timeout must be more than 0 and at most 86400 seconds, got 0",
		},
		{
			field: definition.Timeout(), seconds: 86400.001,
			message: "step 's': timeout must be more than 0 and at most 86400 seconds, got 86400.001",
		},
		{field: definition.Timeout(), seconds: 0.0005, message: "step 's': timeout must have at most 3 decimals, got 0.0005"},
		{field: definition.Backoff(), seconds: -1, message: "step 's': backoff must be 0 to 3600 seconds, got -1"},
		{
			field: definition.Backoff(), seconds: 1e21,
			message: "step 's': backoff must be 0 to 3600 seconds, got 1e+21",
		},
	} {
		got, ok := c.field.Duration(c.seconds)
		if ok != (c.message == "") || got != c.want {
			t.Errorf("%s %v: got %v, %v, want %v", c.field.Name, c.seconds, got, ok, c.want)
		}
		if ok && !c.field.Holds(got) {
			t.Errorf("%s does not hold %v", c.field.Name, got)
		}
		if ok {
			continue
		}
		if hint, message := c.field.Problem(c.seconds, "s"); hint != c.hint || message != c.message {
			t.Errorf("%s %v: got %q, hint %q, want %q, hint %q", c.field.Name, c.seconds, message, hint, c.message, c.hint)
		}
	}
	for _, d := range []time.Duration{-time.Millisecond, time.Microsecond, week + time.Millisecond} {
		if definition.Deadline().Holds(d) {
			t.Errorf("the deadline holds %v", d)
		}
	}
	if _, message := definition.Deadline().Problem(-1, ""); message !=
		"deadline_seconds must be more than 0 and at most 604800 seconds, got -1" {
		t.Errorf("the message without a step is %q", message)
	}
}

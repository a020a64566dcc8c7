// Package risk rates a change by its size: the number of files and the number of replacements.
//
// A [Policy] has the thresholds, and [Policy.Assess] returns the [Level]. It compares only two numbers. The executor
// decides the consequences of a level for a run: a warning, a refusal, whether force helps.
//
//	var p risk.Policy             // the documented table
//	p.Assess(12, 45)              // LOW
//	p.Assess(1, 500)              // HIGH: many edits in one file are as bad as few in many
//	risk.Policy{High: risk.Threshold{Files: 10}}.Assess(12, 45) // HIGH for a stricter host
package risk

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Level is the risk of a change. Levels are ordered, so comparisons such as level >= High are meaningful. The zero
// value is Unset.
type Level uint8

// The levels.
const (
	// Unset means no level, as for a run that cannot write. It prints as "" and is below Low.
	Unset Level = iota
	// Low needs no attention.
	Low
	// Medium is worth a warning.
	Medium
	// High needs force.
	High
	// Critical needs force.
	Critical
)

// String returns "LOW", "MEDIUM", "HIGH" or "CRITICAL", and "" for Unset. For other values it returns "Level(9)", for
// example.
func (l Level) String() string {
	if l <= Critical {
		return [...]string{"", "LOW", "MEDIUM", "HIGH", "CRITICAL"}[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// MarshalText returns the text of String. It fails for a value that is not a level.
func (l Level) MarshalText() ([]byte, error) {
	if l > Critical {
		return nil, &unknownLevelError{Text: l.String()}
	}
	return []byte(l.String()), nil
}

// UnmarshalText is Parse. The level is unchanged if it fails.
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// Parse returns the level with that name, in capital or small letters; "" is Unset. For other names the error lists the
// levels.
func Parse(name string) (Level, error) {
	for l := Unset; l <= Critical; l++ {
		if strings.EqualFold(name, l.String()) {
			return l, nil
		}
	}
	return Unset, &unknownLevelError{Text: name}
}

// unknownLevelError reports that a text or a number is not a level.
type unknownLevelError struct {
	Text string
}

// Error names the text and the allowed texts.
func (e *unknownLevelError) Error() string {
	return fmt.Sprintf("unknown risk level %q: use LOW, MEDIUM, HIGH or CRITICAL", e.Text)
}

// MarshalJSON returns the code and the message.
func (e *unknownLevelError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{"unknown_level", e.Error()})
}

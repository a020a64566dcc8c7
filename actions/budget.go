package actions

import "github.com/millrace-go/millrace/internal/replace"

// budget returns what the limits leave for one file.
func (c *Call) budget() *replace.Budget { return replace.NewBudget(costs{c}) }

// costs are the limits of a call on what it edits.
type costs struct{ c *Call }

// Matches implements [replace.Limits].
func (l costs) Matches() int64 { return l.c.Limits.matches() }

// Text implements [replace.Limits].
func (l costs) Text() int64 { return min(l.c.Limits.OutputBytes(), l.c.Limits.stagedBytes()) }

// TooMany implements [replace.Limits].
func (l costs) TooMany() error { return &LimitError{What: LimitMatches, Limit: l.Matches()} }

// TooMuch implements [replace.Limits].
func (l costs) TooMuch() error {
	if staged := l.c.Limits.stagedBytes(); staged < l.c.Limits.OutputBytes() {
		return &LimitError{What: LimitStaged, Limit: staged}
	}
	return &LimitError{What: LimitOutput, Limit: l.c.Limits.OutputBytes()}
}

// Stage implements [replace.Limits].
func (l costs) Stage(n int64) error { return l.c.spendBytes(n) }

func (c *Call) spendBytes(n int64) error {
	if most := c.Limits.stagedBytes(); c.spent.Add(n) > most {
		return &LimitError{What: LimitStaged, Limit: most}
	}
	return nil
}

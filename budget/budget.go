// Package budget defines the spending limits of a run: money for steps that cost money, and files, edits and bytes for
// all the changes of its steps together.
//
// A [Limit] has the bounds, a [Use] the used amounts, a [Report] both together. The package only does arithmetic: the
// executor decides when to check, and the consequences.
//
//	limit := budget.Limit{USD: 3 * budget.Dollar, Files: 50}
//	limit.Spent(302 * budget.Cent)          // true: no step that costs may begin
//	limit.Exceeded(budget.Use{Files: 51})   // "files"
//	limit.Within(budget.Limit{Files: 20})   // $3.00 and 20 files, for a stricter host
package budget

import "cmp"

// Limit is the most that a run may use. Zero in a field means no limit, so the zero Limit bounds nothing. A negative
// number is a mistake that Check reports.
//
// In JSON it is a number of dollars, or an object with one or more of the fields "usd", "files", "edits" and "bytes".
// There zero is a mistake too, because it could mean nothing or no limit.
type Limit struct {
	// USD is the money for all steps together.
	USD Cost
	// Files is the number of files that may be changed, Edits the number of edits that may be made.
	Files, Edits int
	// Bytes is the largest total size of the created and modified files, in bytes.
	Bytes int64
}

// Use is the used amount of a run, in the measures of Limit.
type Use struct {
	USD          Cost
	Files, Edits int
	Bytes        int64
}

// IsZero reports whether the limit has no bounds.
func (l Limit) IsZero() bool { return l == Limit{} }

// Within returns the smaller of both limits, measure by measure.
func (l Limit) Within(host Limit) Limit {
	return Limit{
		USD:   smaller(l.USD, host.USD),
		Files: smaller(l.Files, host.Files),
		Edits: smaller(l.Edits, host.Edits),
		Bytes: smaller(l.Bytes, host.Bytes),
	}
}

// smaller returns the smaller of two limits, where 0 means no limit.
func smaller[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// Spent reports whether the money is used up: then a step that costs must not begin. Without a limit it is never used
// up.
func (l Limit) Spent(spent Cost) bool { return l.USD > 0 && spent >= l.USD }

// Exceeded returns the first of "files", "edits" and "bytes" whose use exceeds the limit, and "" if none does. Money is
// not checked: spent money stays spent, for any outcome of the run.
func (l Limit) Exceeded(u Use) string {
	for _, m := range l.measures(u) {
		if m.exceeded() {
			return m.name
		}
	}
	return ""
}

// measure is a quantity that is counted.
type measure struct {
	name        string
	limit, used int64
}

func (m measure) exceeded() bool { return m.limit > 0 && m.used > m.limit }

func (l Limit) measures(u Use) [3]measure {
	return [...]measure{
		{"files", int64(l.Files), int64(u.Files)},
		{"edits", int64(l.Edits), int64(u.Edits)},
		{"bytes", l.Bytes, u.Bytes},
	}
}

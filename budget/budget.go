// Package budget defines what a run may spend: money for steps that cost some, and files, edits and bytes for all the
// changes of its steps together.
//
// A [Limit] holds the bounds, a [Use] what was used, a [Report] both side by side. That is arithmetic and nothing else:
// when it is asked, and what follows, is up to the executor.
//
//	limit := budget.Limit{USD: 3 * budget.Dollar, Files: 50}
//	limit.Spent(302 * budget.Cent)          // true: a step that costs must not begin any more
//	limit.Exceeded(budget.Use{Files: 51})   // "files"
//	limit.Within(budget.Limit{Files: 20})   // $3.00 and 20 files, for a stricter host
package budget

import "cmp"

// Limit is what a run may use at most. Zero in a field means no limit, so the zero Limit bounds nothing. A negative
// number is a mistake that Check reports.
//
// In JSON it is a number of dollars, or an object with one or more of the fields "usd", "files", "edits" and "bytes".
// There zero is a mistake too, for a reader cannot tell whether it means nothing or no limit.
type Limit struct {
	// USD is the money for all steps together.
	USD Cost
	// Files is how many files may be changed, Edits how many edits may be made.
	Files, Edits int
	// Bytes is how many bytes the files that are created or modified may have together.
	Bytes int64
}

// Use is what a run has used, in the measures of Limit.
type Use struct {
	USD          Cost
	Files, Edits int
	Bytes        int64
}

// IsZero reports whether the limit bounds nothing.
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

// smaller is the smaller of two limits, of which 0 is none.
func smaller[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// Spent reports whether nothing is left of the money: a step that costs must not begin. Without a limit there always
// is.
func (l Limit) Spent(spent Cost) bool { return l.USD > 0 && spent >= l.USD }

// Exceeded returns the first of "files", "edits" and "bytes" of which more was used than the limit allows, and "" if
// none was. Money is not among them: once spent it is gone, whatever becomes of the run.
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

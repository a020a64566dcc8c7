package budget

import "encoding/json"

// Report is a limit with its use. In JSON the limit of money is null if money is not limited, and a measure without a
// limit is left out:
//
//	{"limit": 3, "spent": 0.42, "exceeded": false, "files": {"limit": 50, "spent": 7, "exceeded": false}}
type Report struct {
	// Limit is the money that may be spent, 0 for no limit. Spent is the spent money.
	Limit Cost `json:"limit"`
	Spent Cost `json:"spent"`
	// Exceeded means that more money was spent than the limit allows; an equal amount is allowed.
	Exceeded bool `json:"exceeded"`
	// Files, Edits and Bytes are nil without a limit.
	Files *Measure `json:"files,omitempty"`
	Edits *Measure `json:"edits,omitempty"`
	Bytes *Measure `json:"bytes,omitempty"`
}

// Measure is a limit that is a count, with its use.
type Measure struct {
	Limit    int64 `json:"limit"`
	Spent    int64 `json:"spent"`
	Exceeded bool  `json:"exceeded"`
}

// Report returns the limit with its use.
func (l Limit) Report(u Use) Report {
	r := Report{Limit: max(l.USD, 0), Spent: u.USD, Exceeded: l.USD > 0 && u.USD > l.USD}
	places := [...]**Measure{&r.Files, &r.Edits, &r.Bytes}
	for i, m := range l.measures(u) {
		if m.limit > 0 {
			*places[i] = &Measure{Limit: m.limit, Spent: m.used, Exceeded: m.exceeded()}
		}
	}
	return r
}

// report is the JSON form of a Report.
type report struct {
	Limit    *Cost    `json:"limit"`
	Spent    Cost     `json:"spent"`
	Exceeded bool     `json:"exceeded"`
	Files    *Measure `json:"files,omitempty"`
	Edits    *Measure `json:"edits,omitempty"`
	Bytes    *Measure `json:"bytes,omitempty"`
}

// MarshalJSON returns the form above.
func (r Report) MarshalJSON() ([]byte, error) {
	form := report{Spent: r.Spent, Exceeded: r.Exceeded, Files: r.Files, Edits: r.Edits, Bytes: r.Bytes}
	if r.Limit > 0 {
		form.Limit = &r.Limit
	}
	return json.Marshal(form)
}

// UnmarshalJSON reads the JSON of MarshalJSON, for example from a stored result. The report is unchanged if it fails.
func (r *Report) UnmarshalJSON(data []byte) error {
	var form report
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*r = Report{Spent: form.Spent, Exceeded: form.Exceeded, Files: form.Files, Edits: form.Edits, Bytes: form.Bytes}
	if form.Limit != nil {
		r.Limit = *form.Limit
	}
	return nil
}

package splice

import (
	"slices"

	"github.com/millrace-go/millrace/change"
)

// origins are those of splices that become one, each once. Thousands of edits may meet in one splice, so to add one
// takes no longer the more there are.
type origins struct {
	list []change.Origin
	own  bool                   // the memory of the list, which is that of a splice at first
	has  map[change.Origin]bool // nil until it was asked often enough
	asks int
}

// add adds those that are not there yet.
func (s *origins) add(by []change.Origin) {
	if len(s.list) == 0 {
		s.list = by
		return
	}
	for _, o := range by {
		if s.contains(o) {
			continue
		}
		if !s.own {
			s.list, s.own = slices.Clip(s.list), true
		}
		s.list = append(s.list, o)
		if s.has != nil {
			s.has[o] = true
		}
	}
}

func (s *origins) contains(o change.Origin) bool {
	const few = 16
	if s.asks++; s.asks <= few {
		return slices.Contains(s.list, o)
	}
	if s.has == nil {
		s.has = make(map[change.Origin]bool, 2*len(s.list))
		for _, known := range s.list {
			s.has[known] = true
		}
	}
	return s.has[o]
}

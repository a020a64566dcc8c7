package commit

import (
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
)

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// respelled returns the entries whose path is free afterwards while one that differs from it by case only is not.
func (t *txn) respelled() []*entry {
	made := make(map[string]bool)
	for _, e := range t.entries {
		if e.New.Kind != change.Absent && e.Old.Kind == change.Absent {
			made[strings.ToLower(e.Path)] = true
		}
	}
	var list []*entry
	for _, e := range t.entries {
		if e.New.Kind == change.Absent && made[strings.ToLower(e.Path)] {
			list = append(list, e)
		}
	}
	return list
}

package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// maxShown is how much of a name of the caller's a message repeats, in bytes.
const maxShown = 100

// shown is a name of the caller's, as a message repeats it.
func shown(name string) string {
	if len(name) > maxShown {
		name = name[:maxShown] + "…"
	}
	return fsutil.Visible(name)
}

// meantName is a hint at the parameter that was meant: other tools call it so, or its name is misspelled.
func meantName(name string, properties map[string]*schema) string {
	if len(properties) == 0 {
		return ""
	}
	if meant, ok := actions.Synonym(name, slices.Collect(maps.Keys(properties))); ok {
		return fmt.Sprintf("did you mean '%s'?", meant)
	}
	if hint := nearest(name, properties); hint != "" {
		return hint
	}
	return "the parameters are " + strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
}

// mostEdits is how far two names are apart at most that are near to each other.
const mostEdits = 3

// nearest is a hint at the name that was meant, "" if none is like it.
func nearest(name string, properties map[string]*schema) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	best, least := "", maxShown
	for _, known := range slices.Sorted(maps.Keys(properties)) {
		d := distance(plain(known), plain(name))
		if d > mostEdits || 2*d > len(known)+1 {
			continue
		}
		// Of two that are as near, the one that begins alike was meant.
		if d *= 2; name != "" && known[0] != name[0] {
			d++
		}
		if d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean '%s'?", best)
}

// distance is how many bytes have to be put in, left out or changed to make one name of the other; names that are too
// long to be alike are far apart.
func distance(a, b string) int {
	if len(a) > maxShown || len(b) > maxShown {
		return maxShown
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(b)]
}

package preview

import (
	"bytes"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/change"
)

// mostTries bounds the search of takenOf.
const mostTries = 100_000

// way is the way to an offset in the text after a splice.
type way struct {
	from  int // the offset before the splice
	taken bool
}

// takenOf returns the splices that alone turn old into text; old begins at the offset off of the file. Such a text
// means that a person took some matches of a step and wrote nothing new. It returns nil for other texts.
func takenOf(old []byte, off int64, splices []change.Splice, text []byte) []change.Splice {
	ends := []int{0} // offsets in the text
	ways := make([]map[int]way, len(splices))
	at, tries := 0, 0
	for k, s := range splices {
		from, to := int(s.Off-off), int(s.Off+s.Len-off)
		if from < at || to > len(old) {
			return nil
		}
		ways[k] = make(map[int]way)
		for _, end := range ends {
			if tries++; tries > mostTries {
				return nil
			}
			rest, ok := bytes.CutPrefix(text[end:], old[at:from])
			if !ok {
				continue
			}
			start := len(text) - len(rest)
			if bytes.HasPrefix(rest, old[from:to]) {
				ways[k][start+to-from] = way{end, false}
			}
			if bytes.HasPrefix(rest, s.Text) {
				ways[k][start+len(s.Text)] = way{end, true}
			}
		}
		ends, at = slices.Sorted(maps.Keys(ways[k])), to
	}
	end := len(text) - (len(old) - at)
	if _, ok := slices.BinarySearch(ends, end); !ok || !bytes.Equal(text[end:], old[at:]) {
		return nil
	}
	var taken []change.Splice
	for k, s := range slices.Backward(splices) {
		w := ways[k][end]
		if w.taken {
			taken = append(taken, s)
		}
		end = w.from
	}
	slices.Reverse(taken)
	return taken
}

package outcome

import (
	"fmt"
	"slices"
	"sync"
)

// warningBytes is the size of a warning in addition to its text.
const warningBytes = 64

// Warnings adds the warnings of a step to its result, in alphabetical order, because several goroutines may warn in any
// order. If the room is too small for all of them, the first in that order stay, and one more warning counts the
// others: each omitted file of a step can have a warning, and its report has the same text. Warnings are safe for
// concurrent use.
type Warnings struct {
	mu   sync.Mutex
	to   *[]string
	room int64  // remaining, in bytes
	cut  string // no room for this text and later ones; only used if more is not 0
	more int
	over bool
}

// WarningsTo returns the warnings of a step whose output is limited to shown bytes. Warnings may use an eighth of it.
func WarningsTo(to *[]string, shown int64) *Warnings {
	w := &Warnings{to: to, room: shown / 8}
	for _, message := range *to {
		w.room -= sizeOfWarning(message)
	}
	return w
}

func sizeOfWarning(message string) int64 { return warningBytes + int64(len(message)) }

// Add adds a warning, or only counts it if the list is full.
func (w *Warnings) Add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if w.more > 0 && message >= w.cut {
		w.more++
		return
	}
	at, _ := slices.BinarySearch(*w.to, message)
	*w.to = slices.Insert(*w.to, at, message)
	w.room -= sizeOfWarning(message)
	for last := len(*w.to) - 1; w.room < 0 && last > 0; last-- { // at least one warning is kept
		w.cut = (*w.to)[last]
		w.room += sizeOfWarning(w.cut)
		*w.to = slices.Delete(*w.to, last, last+1)
		w.more++
	}
}

// End finishes the list. Later warnings are dropped.
func (w *Warnings) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more > 0 && !w.over {
		*w.to = append(*w.to, fmt.Sprintf("and %d more warnings", w.more))
	}
	w.over = true
}

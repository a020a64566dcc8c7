package outcome

import (
	"fmt"
	"slices"
	"sync"
)

// warningBytes is how many bytes a warning counts beside its text.
const warningBytes = 64

// Warnings adds the warnings of a step to its result, in the order of the text, for several goroutines may warn in any
// order. Where there is no room for all of them, those that come first in that order stay and the others are counted
// by one more: each file that a step leaves out can have a warning, and its report has the same text. Warnings are safe
// for concurrent use.
type Warnings struct {
	mu   sync.Mutex
	to   *[]string
	room int64  // that is left, in bytes
	cut  string // from this text on there is no room; it counts where more is not 0
	more int
	over bool
}

// WarningsTo returns the warnings of a step that may show so many bytes. Warnings may take an eighth of these bytes.
func WarningsTo(to *[]string, shown int64) *Warnings {
	w := &Warnings{to: to, room: shown / 8}
	for _, message := range *to {
		w.room -= sizeOfWarning(message)
	}
	return w
}

func sizeOfWarning(message string) int64 { return warningBytes + int64(len(message)) }

// Add adds a warning, or counts it if there is no room.
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
	for last := len(*w.to) - 1; w.room < 0 && last > 0; last-- { // one warning is kept in any case
		w.cut = (*w.to)[last]
		w.room += sizeOfWarning(w.cut)
		*w.to = slices.Delete(*w.to, last, last+1)
		w.more++
	}
}

// End drops the warnings that come later.
func (w *Warnings) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more > 0 && !w.over {
		*w.to = append(*w.to, fmt.Sprintf("and %d more warnings", w.more))
	}
	w.over = true
}

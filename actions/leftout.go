package actions

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/charset"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/wording"
)

// The reasons for leaving a file out of a step.
const (
	LeftOutBinary   = "binary"     // it has a NUL in its first 8,000 bytes
	LeftOutUTF16    = "utf-16"     // its byte order mark is that of UTF-16
	LeftOutTooLarge = "too_large"  // it is larger than the step or the host allows
	LeftOutEncoding = "other_text" // it is not a text in the encoding that the step names
	LeftOutDenied   = "unreadable" // the process may not read it
	// LeftOutGenerated is the reason for a file with the mark of a generator, in a step with no_generated.
	LeftOutGenerated = "generated"
)

// LeftOut counts the chosen files that a step did not read, for one reason.
type LeftOut struct {
	// Reason is one of the LeftOut constants.
	Reason string `json:"reason"`
	// Count is the number of files. Files are the first ten in path order.
	Count int      `json:"count"`
	Files []string `json:"files"`
}

// String returns a line for people, such as "2 binary files (a.png, b.png)".
func (l LeftOut) String() string {
	what := map[string]string{
		LeftOutBinary: "binary", LeftOutUTF16: "UTF-16", LeftOutTooLarge: "too large",
		LeftOutEncoding: "differently encoded", LeftOutDenied: "unreadable", LeftOutGenerated: "generated",
	}[l.Reason]
	files := "files"
	if l.Count == 1 {
		files = "file"
	}
	list := strings.Join(l.Files, ", ")
	if l.Count > len(l.Files) {
		list += ", …"
	}
	return fmt.Sprintf("%d %s %s (%s)", l.Count, what, files, list)
}

// leaving collects the files that a step leaves out. It is safe for concurrent use.
type leaving struct {
	mu  sync.Mutex
	all []LeftOut
}

func (l *leaving) note(reason, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(one LeftOut) bool { return one.Reason == reason })
	if i < 0 {
		i = len(l.all)
		l.all = append(l.all, LeftOut{Reason: reason})
	}
	one := &l.all[i]
	one.Count++
	at, _ := slices.BinarySearch(one.Files, name)
	if at < names.Most {
		one.Files = slices.Insert(one.Files, at, name)
		one.Files = one.Files[:min(len(one.Files), names.Most)]
	}
}

// noteBinary notes a file that begins with head and looks binary.
func (l *leaving) noteBinary(head []byte, name string) {
	if charset.Marked(head) != charset.UTF8 {
		l.note(LeftOutUTF16, name)
		return
	}
	l.note(LeftOutBinary, name)
}

// list returns the files left out, in the order of the reasons. It warns of files with text that people would expect to
// be read.
func (l *leaving) list(c *Call) []LeftOut {
	slices.SortFunc(l.all, func(a, b LeftOut) int { return strings.Compare(a.Reason, b.Reason) })
	for _, one := range l.all {
		switch one.Reason {
		case LeftOutUTF16:
			c.Warnf("left out: %s; %v", one,
				wording.Part{Kind: kinds.ReadUTF16, Text: "encoding auto reads UTF-16"})
		case LeftOutEncoding, LeftOutDenied:
			c.Warnf("left out: %s", one)
		}
	}
	return l.all
}

package recordlog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The limits of a file of lines, in bytes.
const (
	// MaxText is the maximum size of the file, MaxJobText the maximum for one job.
	MaxText    = 64 << 20
	MaxJobText = 16 << 20
	// maxTextLine is the maximum length of the text of one line; longer ones are split.
	maxTextLine = 16 << 10
	// noteSize is the space reserved for each line that reports dropped lines.
	noteSize = 256
)

const textTime = "2006-01-02T15:04:05.000Z"

// Text is a file of lines, each with the ordinal of a job and a time. Lines are not signed: they are for people to
// read. It is not safe for concurrent use.
type Text struct {
	open func() (File, error)
	f    File
	end  int64
	jobs map[int]*jobText
	line []byte
	full int64 // MaxText and MaxJobText, except in tests
	most int64
}

// jobText counts the text written by a job, and the lines and bytes dropped.
type jobText struct{ size, lines, bytes int64 }

// NewText returns a Text that appends to the file that open returns. The file is opened when it is first needed, and an
// incomplete line at its end is then cut off. The space that jobs used in the file earlier is unknown, so a job should
// not continue in it.
func NewText(open func() (File, error)) *Text {
	return &Text{open: open, jobs: make(map[int]*jobText), full: MaxText, most: MaxJobText}
}

// Write appends the lines of a text for a job. Lines that exceed the room are dropped, see [Text.End].
func (t *Text) Write(ordinal int, at time.Time, text string) error {
	if err := t.begin(); err != nil {
		return err
	}
	job := t.job(ordinal)
	t.line = t.line[:0]
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		for {
			piece := line[:pieceOf(line)]
			t.add(job, ordinal, at, piece)
			if line = line[len(piece):]; line == "" {
				break
			}
		}
	}
	return t.flush(job)
}

// pieceOf returns the number of bytes of a line that fit into one, without splitting a character.
func pieceOf(line string) int {
	if len(line) <= maxTextLine {
		return len(line)
	}
	for n := maxTextLine; n > maxTextLine-utf8.UTFMax; n-- {
		if utf8.RuneStart(line[n]) {
			return n
		}
	}
	return maxTextLine
}

// add adds a line to the lines to be written, or counts it as dropped. After its first dropped line, a job loses all
// further lines, so that its text has no gaps.
func (t *Text) add(job *jobText, ordinal int, at time.Time, text string) {
	start := len(t.line)
	t.line = appendText(t.line, ordinal, at, text)
	all := int64(len(t.line))
	if job.lines > 0 || job.size+all > t.most-noteSize || t.end+all > t.full-int64(len(t.jobs)+1)*noteSize {
		t.line = t.line[:start]
		job.lines++
		job.bytes += int64(len(text))
	}
}

func appendText(dst []byte, ordinal int, at time.Time, text string) []byte {
	dst = strconv.AppendInt(dst, int64(ordinal), 10)
	dst = at.UTC().AppendFormat(append(dst, ' '), textTime)
	return append(append(append(dst, ' '), text...), '\n')
}

func (t *Text) flush(job *jobText) error {
	if len(t.line) == 0 {
		return nil
	}
	if err := writeAt(t.f, t.line, t.end); err != nil {
		return err
	}
	t.end += int64(len(t.line))
	job.size += int64(len(t.line))
	return nil
}

// End ends the lines of a job. If some of them were dropped, a last line reports how many.
func (t *Text) End(ordinal int, at time.Time) error {
	job := t.jobs[ordinal]
	delete(t.jobs, ordinal)
	if job == nil || job.lines == 0 {
		return nil
	}
	note := fmt.Sprintf("[%d more lines of %d bytes were dropped: the log has room for %d MiB a job, and %d MiB a run]",
		job.lines, job.bytes, t.most>>20, t.full>>20)
	if t.line = appendText(t.line[:0], ordinal, at, note); t.end+int64(len(t.line)) > t.full {
		return nil // earlier jobs have left no room even for that
	}
	return t.flush(job)
}

func (t *Text) job(ordinal int) *jobText {
	job := t.jobs[ordinal]
	if job == nil {
		job = new(jobText)
		t.jobs[ordinal] = job
	}
	return job
}

// begin opens the file and finds its end.
func (t *Text) begin() error {
	if t.f != nil {
		return nil
	}
	f, err := t.open()
	if err != nil {
		return err
	}
	if t.end, err = endOfText(f); err == nil {
		err = cutAt(f, t.end)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return err
	}
	t.f = f
	return nil
}

// endOfText returns the offset after the last complete line of a file.
func endOfText(f File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := min(info.Size(), MaxText)
	buf := make([]byte, min(size, 2*maxTextLine))
	for size > 0 {
		p := buf[:min(size, int64(len(buf)))]
		if n, err := f.ReadAt(p, size-int64(len(p))); n < len(p) {
			return 0, err
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return size - int64(len(p)) + int64(i) + 1, nil
		}
		size -= int64(len(p))
	}
	return 0, nil
}

// Sync makes the lines durable, if there are any.
func (t *Text) Sync() error {
	if t.f == nil {
		return nil
	}
	return t.f.Sync()
}

// Close closes the file.
func (t *Text) Close() error {
	if t.f == nil {
		return nil
	}
	return t.f.Close()
}

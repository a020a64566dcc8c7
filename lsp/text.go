package lsp

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

const byteOrderMark = "\ufeff"

var errSplices = errors.New("the splices of the plan do not give what its hash says")

// place is a part of a text to replace, from offset from up to offset to.
type place struct {
	from, to int
	text     []byte
	by       []change.Origin
}

// unsayable is the reason why a text cannot be edited, or why two texts cannot be the same document.
type unsayable string

func (u unsayable) Error() string { return string(u) }

// created reads the text of a new file.
func created(c change.Change) (string, error) {
	data, err := content(c.OpenNew, c.Path, c.New.Size, c.New.Hash)
	if err != nil {
		return "", err
	}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		return "", unsayable("it is to begin with a byte order mark, which is not part of a text")
	}
	return string(data), textual(data)
}

// edited returns the changed places of a file's text, and the old text. Both are without the byte order mark.
func edited(plan *millrace.Plan, c change.Change) ([]place, []byte, error) {
	old, err := content(c.OpenOld, c.OldPath(), c.Old.Size, c.Old.Hash)
	if err != nil {
		return nil, nil, err
	}
	if err := textual(old); err != nil {
		return nil, nil, err
	}
	places, err := placesOf(plan, c, old)
	if err != nil {
		return nil, nil, err
	}
	now, ok := applied(old, places)
	if !ok || c.New.Hash != (change.Hash{}) && change.HashOf(now) != c.New.Hash {
		return nil, nil, &fs.PathError{Op: "edit", Path: c.Path, Err: errSplices}
	}
	if err := textual(now); err != nil {
		return nil, nil, err
	}
	mark := []byte(byteOrderMark)
	if bytes.HasPrefix(old, mark) != bytes.HasPrefix(now, mark) {
		return nil, nil, unsayable("its byte order mark comes or goes, which is not part of a text")
	}
	if bytes.HasPrefix(old, mark) {
		old, places = old[len(mark):], withoutMark(old, places)
	}
	return widened(old, places), old, nil
}

// content reads a file and checks its size and hash.
func content(open func() (io.ReadCloser, error), name string, size int64, hash change.Hash) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// one more byte shows that the file has grown
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	if err == nil && hash != (change.Hash{}) && change.HashOf(data) != hash {
		err = &fs.PathError{Op: "read", Path: name, Err: fsutil.ErrDrift}
	}
	return data, err
}

func textual(data []byte) error {
	switch {
	case fsutil.IsBinary(data):
		return unsayable("it is binary")
	case !utf8.Valid(data):
		return unsayable("it has bytes that are no UTF-8")
	}
	return nil
}

// placesOf returns the splices of a change. For a file that was written as a whole it returns the changed lines,
// because such a change has no splices.
func placesOf(plan *millrace.Plan, c change.Change, old []byte) ([]place, error) {
	var places []place
	for _, s := range c.Splices {
		if s.Off < 0 || s.Len < 0 || s.Off > int64(len(old)) || s.Len > int64(len(old))-s.Off {
			return nil, &fs.PathError{Op: "edit", Path: c.Path, Err: errSplices}
		}
		places = append(places, place{int(s.Off), int(s.Off + s.Len), s.Text, s.By})
	}
	if c.Splices != nil {
		return places, nil
	}
	files, err := plan.Files(c.Path)
	if err != nil {
		return nil, err
	}
	starts := []int{0}
	for line := range bytes.Lines(old) {
		starts = append(starts, starts[len(starts)-1]+len(line))
	}
	for _, f := range files {
		if f.Path != c.Path {
			continue // below a directory of that name
		}
		for _, h := range f.Hunks {
			places = appendRuns(places, h, starts)
		}
	}
	return places, nil
}

// appendRuns appends a place for each run of changed lines of a hunk. starts are the offsets of the old lines.
func appendRuns(places []place, h millrace.Hunk, starts []int) []place {
	next := h.OldStart // the number of the next old line
	if h.OldLines == 0 {
		next++ // such a hunk names the line above it
	}
	open := false
	lines := h.Lines()
	for i, l := range lines {
		switch l.Op {
		case ' ':
			open = false
			next++
			continue
		case '\\':
			continue
		}
		if !open {
			at := starts[min(next-1, len(starts)-1)]
			places = append(places, place{from: at, to: at, by: h.By})
			open = true
		}
		last := &places[len(places)-1]
		if l.Op == '-' {
			last.to = starts[min(next, len(starts)-1)]
			next++
			continue
		}
		last.text = append(last.text, l.Text...)
		if i+1 == len(lines) || lines[i+1].Op != '\\' {
			last.text = append(last.text, '\n')
		}
	}
	return places
}

// applied returns the text with the places replaced. It reports false if they are not in order.
func applied(old []byte, places []place) ([]byte, bool) {
	var now []byte
	at := 0
	for _, p := range places {
		if p.from < at || p.to < p.from || p.to > len(old) {
			return nil, false
		}
		now = append(append(now, old[at:p.from]...), p.text...)
		at = p.to
	}
	return append(now, old[at:]...), true
}

// withoutMark returns the places of a text that has a byte order mark before and after. Their offsets count from the
// end of the mark.
func withoutMark(old []byte, places []place) []place {
	n := len(byteOrderMark)
	first := 0
	for first < len(places) && places[first].from < n {
		first++
	}
	var moved []place
	rest := places[first:]
	if first > 0 {
		all := joined(old, places[:first])
		all.text, all.from = slices.Concat(old[:all.from], all.text), 0
		for all.to < n || len(all.text) < n {
			if len(rest) > 0 && rest[0].from == all.to {
				all, rest = joined(old, []place{all, rest[0]}), rest[1:]
				continue
			}
			all.text = append(all.text, old[all.to])
			all.to++
		}
		all.to, all.text = all.to-n, all.text[n:]
		if all.to > 0 || len(all.text) > 0 {
			moved = append(moved, all)
		}
	}
	for _, p := range rest {
		p.from, p.to = p.from-n, p.to-n
		moved = append(moved, p)
	}
	return moved
}

// joined returns one place in place of several consecutive places.
func joined(old []byte, places []place) place {
	all := place{from: places[0].from, to: places[0].to, text: slices.Clone(places[0].text),
		by: slices.Clone(places[0].by)}
	for _, p := range places[1:] {
		if p.from > all.to {
			all.text = append(all.text, old[all.to:p.from]...)
		}
		all.text = append(all.text, p.text...)
		all.to = p.to
		all.by = append(all.by, p.by...)
	}
	return all
}

// widened returns the places so that none begins or ends within a character or a "\r\n", and each text is valid. Places
// that then overlap become one place.
func widened(old []byte, places []place) []place {
	var wide []place
	for group := range groups(old, places) {
		p := joined(old, group)
		from, to := floor(old, p.from), ceil(old, p.to)
		p.text = slices.Concat(old[from:p.from], p.text, old[p.to:to])
		p.from, p.to = from, to
		wide = append(wide, p)
	}
	return wide
}

// groups returns the places that have to be joined, group by group.
func groups(old []byte, places []place) func(yield func([]place) bool) {
	return func(yield func([]place) bool) {
		for i := 0; i < len(places); {
			n := i + 1
			valid := utf8.Valid(places[i].text)
			for n < len(places) {
				before, next := places[n-1], places[n]
				end, begin := ceil(old, before.to), floor(old, next.from)
				// Two places that only touch stay two, unless a character has parts from both.
				if begin >= end && !(begin == end && !(valid && utf8.Valid(next.text))) {
					break
				}
				valid = valid && utf8.Valid(next.text)
				n++
			}
			if !yield(places[i:n]) {
				return
			}
			i = n
		}
	}
}

// floor returns the last offset up to off that is not within a character or a "\r\n".
func floor(text []byte, off int) int {
	for off > 0 && off < len(text) && !utf8.RuneStart(text[off]) {
		off--
	}
	if withinLineEnd(text, off) {
		off--
	}
	return off
}

// ceil returns the first offset from off on that is not within a character or a "\r\n".
func ceil(text []byte, off int) int {
	for off < len(text) && !utf8.RuneStart(text[off]) {
		off++
	}
	if withinLineEnd(text, off) {
		off++
	}
	return off
}

func withinLineEnd(text []byte, off int) bool {
	return off > 0 && off < len(text) && text[off-1] == '\r' && text[off] == '\n'
}

// textEdits returns the places as edits, each with the annotation of the last step that wrote there.
func textEdits(text []byte, places []place, encoding Encoding, annotate func([]change.Origin) string) []TextEdit {
	edits := make([]TextEdit, 0, len(places))
	c := cursor{text: text, encoding: encoding}
	for _, p := range places {
		start := c.to(p.from)
		edits = append(edits, TextEdit{Range{start, c.to(p.to)}, string(p.text), annotate(p.by)})
	}
	return edits
}

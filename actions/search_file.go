package actions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

// searchBuffer is how much of a file a search reads at once, in bytes.
const searchBuffer = 128 << 10

// found is a file with matches.
type found struct {
	path    string
	count   int
	content []byte // if it or the lines are asked for
	asText  bool   // an ambiguous pattern occurs as a text
}

// searching is the state of one search. Its method file is safe for concurrent use.
type searching struct {
	c        *Call
	pattern  *match.Pattern
	content  bool
	lines    bool // show the lines with matches
	context  int  // and so many around them
	room     *showing
	maxBytes int64
	mayMatch func(part []byte) bool // nil if parts of a file tell nothing
	overlap  int
	buffers  sync.Pool // of *[]byte

	mu      sync.Mutex
	found   []found
	textual []string // files in which an ambiguous pattern occurs as a text but does not match
	large   []string
}

// file searches one file. A file without a match is never held as a whole, if the pattern allows to tell from parts.
func (s *searching) file(ctx context.Context, e fsutil.Entry) error {
	f, err := e.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotRegular):
		return nil // it has gone since its directory was read, or something else has come
	case err != nil:
		return err
	}
	defer f.Close()
	buf, _ := s.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
		*buf = make([]byte, searchBuffer+s.overlap)
	}
	defer s.buffers.Put(buf)

	n, err := io.ReadFull(f, (*buf)[:searchBuffer])
	s.c.read(n)
	first := (*buf)[:n]
	if n == 0 || fsutil.IsBinary(first) {
		return ignoreEOF(err)
	}
	if int64(n) > s.maxBytes {
		return s.leaveOut(e.Path)
	}
	if err != nil {
		if err = ignoreEOF(err); err != nil || s.mayMatch != nil && !s.mayMatch(first) {
			return err
		}
		if !s.pattern.Contains(first) && !s.pattern.AsText(first) {
			return nil
		}
		return s.whole(ctx, e.Path, f, bytes.Clone(first))
	}
	return s.long(ctx, e.Path, f, buf, n)
}

// long searches a file that does not fit into the buffer, of which the first n bytes are in it.
func (s *searching) long(ctx context.Context, name string, f fsutil.ReadFile, buf *[]byte, n int) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > s.maxBytes {
		return s.leaveOut(name)
	}
	if !s.content && !s.lines && info.Size() >= s.c.pieces.least() && s.pattern.Streams() {
		if err := s.stream(ctx, name, f, (*buf)[:n]); err != match.ErrLongLine { //nolint:errorlint // it comes as it is
			return err
		}
		return s.again(ctx, name)
	}
	if s.mayMatch != nil && !s.mayMatch((*buf)[:n]) {
		// Look through the rest part by part. What was read is not kept: where there is a match, the file is read again.
		hit, err := s.rest(ctx, f, buf, n)
		switch {
		case errors.Is(err, fsutil.ErrTooLarge):
			return s.leaveOut(name)
		case err != nil || !hit:
			return err
		}
		return s.again(ctx, name)
	}
	head := bytes.Clone((*buf)[:n])
	rest, err := io.ReadAll(io.LimitReader(f, s.maxBytes-int64(n)+1))
	s.c.read(len(rest))
	if err != nil {
		return err
	}
	if int64(n+len(rest)) > s.maxBytes {
		return s.leaveOut(name)
	}
	return s.whole(ctx, name, f, append(head, rest...))
}

// leaveOut notes a file that is too large.
func (s *searching) leaveOut(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.large = append(s.large, name)
	return nil
}

// rest reports whether a part of the file behind the n bytes in the buffer may match. A file that turns out to be larger
// than it is allowed to be, as in /proc, is [fsutil.ErrTooLarge].
func (s *searching) rest(ctx context.Context, f fsutil.ReadFile, buf *[]byte, n int) (hit bool, err error) {
	for total := int64(n); ; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		keep := copy(*buf, (*buf)[max(0, n-s.overlap):n])
		more, err := io.ReadFull(f, (*buf)[keep:])
		s.c.read(more)
		n = keep + more
		if more > 0 && s.mayMatch((*buf)[:n]) {
			return true, nil
		}
		if total += int64(more); total > s.maxBytes {
			return false, fsutil.ErrTooLarge
		}
		if err != nil {
			return false, ignoreEOF(err)
		}
	}
}

// stream counts the matches in a file without holding more than a part of it.
func (s *searching) stream(ctx context.Context, name string, f fsutil.ReadFile, first []byte) error {
	count, asText := 0, false
	see := func(data []byte) { asText = asText || s.pattern.AsText(data) }
	if !s.pattern.Ambiguous() {
		see = nil
	}
	// One byte more than is allowed shows that there is too much.
	r := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(first), s.c.reading(f)), N: s.maxBytes + 1}
	err := s.c.scan(ctx, r, s.pattern, match.Stream{See: see}, func(match.Piece, []int) bool { count++; return true })
	switch {
	case err != nil:
		return err
	case r.N <= 0:
		return s.leaveOut(name)
	case count > 0:
		s.add(found{path: name, count: count, asText: asText})
	case asText:
		s.addText(name)
	}
	return nil
}

// again searches a file that was read before as a whole.
func (s *searching) again(ctx context.Context, name string) error {
	data, err := s.c.FS.ReadFileMax(name, s.maxBytes)
	if errors.Is(err, fsutil.ErrTooLarge) {
		return s.leaveOut(name)
	}
	if err != nil {
		return err
	}
	return s.report(ctx, name, data)
}

// whole searches the content of a file, which is not shared with a buffer.
func (s *searching) whole(ctx context.Context, name string, f fsutil.ReadFile, data []byte) error {
	if !s.pattern.Contains(data) && !s.pattern.AsText(data) {
		return nil
	}
	// A later step most likely wants it: it need not be read again then.
	if info, err := f.Stat(); err == nil {
		s.c.FS.Remember(name, data, info)
	}
	return s.report(ctx, name, data)
}

func (s *searching) report(ctx context.Context, name string, data []byte) error {
	n, shown, err := s.count(ctx, data)
	if err != nil {
		return err
	}
	asText := s.pattern.AsText(data)
	if n == 0 {
		if asText {
			s.addText(name)
		}
		return nil
	}
	hit := found{path: name, count: n, asText: asText, content: shown}
	if s.content {
		hit.content = data
	}
	s.add(hit)
	return nil
}

// count counts the matches, and returns the lines they are in if those are asked for.
func (s *searching) count(ctx context.Context, data []byte) (n int, lines []byte, err error) {
	if !s.lines {
		n, err = s.pattern.Count(ctx, data)
		return n, nil, err
	}
	w := newLineWriter(data, s.context, s.room)
	err = s.pattern.All(ctx, data, 0, func(loc []int) bool { n++; return w.match(loc[0], loc[1]) })
	if err == nil {
		lines, err = w.end()
	}
	return n, lines, err
}

func (s *searching) add(hit found) {
	s.mu.Lock()
	s.found = append(s.found, hit)
	s.mu.Unlock()
}

func (s *searching) addText(name string) {
	s.mu.Lock()
	s.textual = append(s.textual, name)
	s.mu.Unlock()
}

// outcome returns what was found, in path order, and gives the warnings.
func (s *searching) outcome() Outcome {
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	slices.Sort(s.textual)
	slices.Sort(s.large)
	out := Outcome{Counts: make(map[string]int, len(s.found)), Mode: s.pattern.Mode().String()}
	if s.content || s.lines {
		out.Content = make(map[string]string, len(s.found))
	}
	asText := 0
	for _, f := range s.found {
		out.Files = append(out.Files, f.path)
		out.Counts[f.path] = f.count
		if out.Content != nil {
			out.Content[f.path] = string(f.content)
		}
		if f.asText {
			asText++
		}
	}
	for _, name := range s.large {
		s.c.Warnf("%s: left out, larger than %d bytes", name, s.maxBytes)
	}
	// X10: a pattern like f(x) is a regular expression, but most likely not meant as one.
	pattern := quoted(s.pattern.Source())
	if len(s.textual) > 0 {
		s.c.Warnf("pattern %s was read as a regular expression; as plain text it also occurs in %d files in which it does not match so, such as %s; set mode to say which is meant",
			pattern, len(s.textual), s.textual[0])
	} else if asText > 0 {
		s.c.Warnf("pattern %s was read as a regular expression, and occurs as plain text in %d of the files; set mode to say which is meant", pattern, asText)
	}
	return out
}

// ignoreEOF returns nil for the errors with which io.ReadFull says that the file is at its end.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

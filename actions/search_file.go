package actions

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

const (
	// searchBuffer is how much of a file a search reads at once, in bytes: little enough to be in the processor's cache still
	// when it is looked at.
	searchBuffer = 128 << 10
	searchFirst  = 16 << 10 // the buffer of a worker that has met small files only
	pageSize     = 4 << 10
	// searchPiece is how much is looked at at once of a file that is not held as a whole, in bytes. Each worker has memory for it.
	searchPiece = 512 << 10
	// searchWhole is the size up to which a file in which there may be a match is held as a whole, in bytes.
	searchWhole = 1 << 20
)

// searching is the state of one search. Its method file is safe for concurrent use.
type searching struct {
	c        *Call
	pattern  *match.Pattern
	content  bool
	lines    bool // show the lines with matches
	without  bool // the files without a match are wanted
	context  int  // and so many around them
	room     *showing
	maxBytes int64
	mayMatch func(part []byte) bool // nil if parts of a file tell nothing
	overlap  int
	desks    sync.Pool // of *desk

	taken   atomic.Bool // a file was one to search
	mu      sync.Mutex
	found   []found
	visited map[string]bool // of several paths, one of which may be in another; nil for one path
	seen    []string        // the text files, if those without a match are wanted
	textual []string        // files in which an ambiguous pattern occurs as a text but does not match
	large   []string
}

// desk is what one worker needs to search a file.
type desk struct {
	file fsutil.FileReader
	// buf has room for what is read at once, behind the end of what was read before. What is read begins at a multiple of the
	// size of a page in it: the system copies faster where both sides are aligned alike.
	buf []byte
	// piece is for what is searched piece by piece.
	piece []byte
}

func (s *searching) desk() *desk {
	if d, ok := s.desks.Get().(*desk); ok {
		return d
	}
	return &desk{buf: make([]byte, s.margin()+searchFirst)}
}

// grow makes the buffer larger, with the n bytes that were read already.
func (d *desk) grow(size, n int) {
	if len(d.buf) < size {
		larger := make([]byte, size)
		copy(larger, d.buf[:n])
		d.buf = larger
	}
}

// margin is how much of a buffer is for what was read before.
func (s *searching) margin() int { return (s.overlap + pageSize - 1) &^ (pageSize - 1) }

// file searches one file. A file without a match is never held as a whole, if the pattern allows to tell from parts.
func (s *searching) file(ctx context.Context, e fsutil.Entry) error {
	d := s.desk()
	defer s.desks.Put(d)
	switch err := e.OpenIn(&d.file); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotRegular):
		return nil // it has gone since its directory was read, or something else has come
	case err != nil:
		return err
	}
	defer d.file.Close()
	n, whole, err := fsutil.ReadHead(&d.file, d.buf[:min(searchBuffer, len(d.buf)-s.margin())])
	s.c.read(n)
	head := d.buf[:n]
	switch {
	case err != nil:
		if info, serr := d.file.Stat(); serr == nil && !info.Mode().IsRegular() {
			return nil // a directory has come, say, on a file system that does not mind to open that
		}
		return err
	case s.without && !fsutil.IsBinary(head):
		s.addSeen(e.Path())
	}
	switch {
	case n == 0 || s.surelyNothing(head, whole) || fsutil.IsBinary(head):
		return nil
	case int64(n) > s.maxBytes:
		return s.leaveOut(e.Path())
	case !whole:
		return s.long(ctx, e, d, n)
	}
	return s.whole(ctx, e, d, head)
}

// surelyNothing reports whether a file of which all was read has no match. Most have none, and then it does not matter what else
// is true of them. One that is larger than allowed is to be told of.
func (s *searching) surelyNothing(data []byte, whole bool) bool {
	return whole && s.mayMatch != nil && int64(len(data)) <= s.maxBytes && !s.mayMatch(data)
}

// long searches a file that does not fit into the buffer, of which the first n bytes are in it.
func (s *searching) long(ctx context.Context, e fsutil.Entry, d *desk, n int) error {
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > s.maxBytes {
		return s.leaveOut(e.Path())
	}
	if n < searchBuffer {
		d.grow(s.margin()+searchBuffer, n)
		more, whole, err := fsutil.ReadOn(&d.file, d.buf[:searchBuffer], n)
		s.c.read(more)
		if n += more; err != nil {
			return err
		}
		if whole {
			return s.whole(ctx, e, d, d.buf[:n])
		}
	}
	if s.mayMatch != nil && !s.mayMatch(d.buf[:n]) {
		hit, err := s.rest(ctx, d, n)
		switch {
		case errors.Is(err, fsutil.ErrTooLarge):
			return s.leaveOut(e.Path())
		case err != nil || !hit:
			return err
		}
	}
	// What was read has not been kept: it is read again, with what follows.
	again, ok := d.file.ReadFile.(io.ReaderAt)
	streams := !s.content && !s.lines && s.pattern.Streams()
	switch {
	case !ok:
	case streams && s.mayMatch == nil && !s.c.FilesWanted, streams && info.Size() > searchWhole:
		if err := s.stream(ctx, e.Path(), d, again); err != match.ErrLongLine { //nolint:errorlint // it comes as it is
			return err
		}
	case info.Size() <= searchWhole:
		d.grow(searchWhole+1+s.margin(), 0)
		n, err := again.ReadAt(d.buf[:searchWhole+1], 0)
		if ignoreEOF(err) == nil && n <= searchWhole && int64(n) <= s.maxBytes {
			return s.whole(ctx, e, d, d.buf[:n])
		}
	}
	return s.afresh(ctx, e.Path())
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
func (s *searching) rest(ctx context.Context, d *desk, n int) (hit bool, err error) {
	margin, buf := s.margin(), d.buf
	seen := buf[:n] // what was looked at last
	for total := int64(n); ; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		keep := min(s.overlap, len(seen))
		from := margin - keep
		copy(buf[from:margin], seen[len(seen)-keep:])
		more, err := io.ReadFull(&d.file, buf[margin:margin+searchBuffer])
		s.c.read(more)
		seen = buf[from : margin+more]
		if more > 0 && s.mayMatch(seen) {
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
func (s *searching) stream(ctx context.Context, name string, d *desk, f io.ReaderAt) error {
	asText := false
	see := func(data []byte) { asText = asText || s.pattern.AsText(data) }
	if !s.pattern.Ambiguous() {
		see = nil
	}
	// One byte more than is allowed shows that there is too much.
	r := &io.LimitedReader{R: s.c.reading(io.NewSectionReader(f, 0, 1<<62)), N: s.maxBytes + 1}
	count, err := s.c.countIn(ctx, r, s.pattern, match.Stream{Window: searchPiece, See: see, Buffer: &d.piece})
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

// whole searches the content of a file, which is in a buffer that will be used again.
func (s *searching) whole(ctx context.Context, e fsutil.Entry, d *desk, data []byte) error {
	n, shown, err := s.count(ctx, data)
	if err != nil || n == 0 && !s.pattern.AsText(data) {
		return err
	}
	name := e.Path()
	if s.c.FilesWanted {
		if info, err := d.file.Stat(); err == nil {
			s.c.FS.Remember(name, data, info)
		}
	}
	return s.report(name, data, n, shown)
}

// afresh searches a file as a whole that has to be opened for it again.
func (s *searching) afresh(ctx context.Context, name string) error {
	err := s.c.FS.View(name, s.maxBytes, func(data []byte) error {
		n, shown, err := s.count(ctx, data)
		if err == nil {
			err = s.report(name, data, n, shown)
		}
		return err
	})
	if errors.Is(err, fsutil.ErrTooLarge) {
		return s.leaveOut(name)
	}
	return err
}

func (s *searching) report(name string, data []byte, n int, shown []byte) error {
	asText := s.pattern.AsText(data)
	switch {
	case n > 0:
		hit := found{path: name, count: n, asText: asText, content: string(shown)}
		if s.content {
			if err := s.room.take(len(data)); err != nil {
				return err
			}
			hit.content = string(data)
		}
		s.add(hit)
	case asText:
		s.addText(name)
	}
	return nil
}

// count counts the matches, and returns the lines they are in if those are asked for.
func (s *searching) count(ctx context.Context, data []byte) (n int, lines []byte, err error) {
	if s.lines {
		return s.linesOf(ctx, data)
	}
	n, err = s.pattern.Count(ctx, data)
	return n, nil, err
}

func (s *searching) linesOf(ctx context.Context, data []byte) (n int, lines []byte, err error) {
	w := newLineWriter(data, s.context, s.room)
	err = s.pattern.All(ctx, data, 0, func(loc []int) bool { n++; return w.match(loc[0], loc[1]) })
	if err == nil {
		lines, err = w.end()
	}
	return n, lines, err
}

// ignoreEOF returns nil for the errors with which io.ReadFull says that the file is at its end.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

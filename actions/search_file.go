package actions

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/walk"
)

const (
	// searchBuffer is how much of a file a search reads at once, in bytes: little enough to be in the processor's cache still
	// when it is looked at.
	searchBuffer = 128 << 10
	searchFirst  = 16 << 10 // the buffer of a worker that has met small files only
	pageSize     = 4 << 10
	// searchWhole is the size up to which a file in which there may be a match is held as a whole, searchWindow how much of a larger
	// one is looked at at once, in bytes. Each worker has memory for it.
	searchWhole  = 1 << 20
	searchWindow = 512 << 10
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

// desk is what one worker needs to search a file. It is the [match.Content] of the one that it has open.
type desk struct {
	s    *searching
	e    walk.Entry
	file handle.Reader
	// buf has room for what is read at once, behind the end of what was read before. What is read begins at a multiple of the
	// size of a page in it: the system copies faster where both sides are aligned alike.
	buf   []byte
	size  int64
	whole bool // all of the file is in buf
	text  bool // an ambiguous pattern occurs as a text
}

func (s *searching) desk() *desk {
	if d, ok := s.desks.Get().(*desk); ok {
		return d
	}
	return &desk{s: s, buf: make([]byte, s.margin()+searchFirst)}
}

// grow makes the buffer larger, with the n bytes that were read already.
func (d *desk) grow(size, n int) {
	if len(d.buf) < size {
		larger := make([]byte, size)
		copy(larger, d.buf[:n])
		d.buf = larger
	}
}

// Size implements [match.Content].
func (d *desk) Size() int64 { return d.size }

// Bytes implements [match.Content]. What is larger than the search allows is [fsutil.ErrTooLarge].
func (d *desk) Bytes(int64) ([]byte, error) {
	if d.whole {
		return d.buf[:d.size], nil
	}
	if again, ok := d.file.ReadFile.(io.ReaderAt); ok && d.size <= searchWhole {
		d.grow(searchWhole+1+d.s.margin(), 0)
		n, err := again.ReadAt(d.buf[:searchWhole+1], 0)
		if ignoreEOF(err) == nil && n <= searchWhole && int64(n) <= d.s.maxBytes {
			d.whole, d.size = true, int64(n)
			return d.buf[:n], nil
		}
	}
	return d.s.c.stage().ReadFileMax(d.e.Path(), d.s.maxBytes)
}

// Open implements [match.Content]. It reads the file again.
func (d *desk) Open() (io.ReadCloser, error) {
	r, ok := d.file.ReadFile.(io.ReaderAt)
	closes := io.NopCloser(nil)
	if !ok {
		f, err := d.s.c.FS.Open(d.e.Path())
		if err != nil {
			return nil, err
		}
		r, closes = f, f
	}
	return &rereading{io.NewSectionReader(r, 0, 1<<62), closes, d.s.c, d.s.maxBytes}, nil
}

// rereading reads a file again, as much of it as is allowed.
type rereading struct {
	io.Reader
	io.Closer
	c    *Call
	left int64
}

func (r *rereading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.c.read(n)
	if r.left -= int64(n); r.left < 0 {
		err = fsutil.ErrTooLarge
	}
	return n, err
}

// margin is how much of a buffer is for what was read before.
func (s *searching) margin() int { return (s.overlap + pageSize - 1) &^ (pageSize - 1) }

// file searches one file. A file without a match is never held as a whole, if the pattern allows to tell from parts.
func (s *searching) file(ctx context.Context, e walk.Entry) error {
	d := s.desk()
	defer s.desks.Put(d)
	switch err := e.OpenIn(&d.file); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotRegular):
		return nil // it has gone since its directory was read, or something else has come
	case err != nil:
		return err
	}
	defer d.file.Close()
	n, whole, err := handle.ReadHead(&d.file, d.buf[:min(searchBuffer, len(d.buf)-s.margin())])
	s.c.read(n)
	d.e, d.size, d.whole, d.text = e, int64(n), whole, false
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
	if n == 0 || s.surelyNothing(head, whole) || fsutil.IsBinary(head) {
		return nil
	}
	hit := true
	if !whole {
		hit, err = s.screen(ctx, d, n)
	}
	if hit && err == nil && d.size > s.maxBytes {
		err = fsutil.ErrTooLarge
	}
	if hit && err == nil {
		err = s.matches(ctx, d)
	}
	if errors.Is(err, fsutil.ErrTooLarge) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.large = append(s.large, e.Path())
		return nil
	}
	return err
}

// surelyNothing reports whether a file of which all was read has no match. Most have none, and then it does not matter what else
// is true of them. One that is larger than allowed is to be told of.
func (s *searching) surelyNothing(data []byte, whole bool) bool {
	return whole && s.mayMatch != nil && int64(len(data)) <= s.maxBytes && !s.mayMatch(data)
}

// screen reports whether a file that does not fit into the buffer, of which the first n bytes are in it, may have a match.
func (s *searching) screen(ctx context.Context, d *desk, n int) (hit bool, err error) {
	info, err := d.file.Stat()
	if err != nil {
		return false, err
	}
	if d.size = info.Size(); d.size > s.maxBytes {
		return false, fsutil.ErrTooLarge
	}
	if n < searchBuffer {
		d.grow(s.margin()+searchBuffer, n)
		more, whole, err := handle.ReadOn(&d.file, d.buf[:searchBuffer], n)
		s.c.read(more)
		if n += more; err != nil {
			return false, err
		}
		if whole {
			d.size, d.whole = int64(n), true
			return true, nil
		}
	}
	if s.mayMatch == nil || s.mayMatch(d.buf[:n]) {
		return true, nil
	}
	return s.rest(ctx, d, n)
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

// matches finds the matches in the file that is open.
func (s *searching) matches(ctx context.Context, d *desk) error {
	how := match.How{Sizes: s.c.sizes, Buffer: &d.buf}
	if s.pattern.Ambiguous() {
		how.See = func(data []byte) { d.text = d.text || s.pattern.AsText(data) }
	}
	if s.lines || s.content {
		how.Sizes.Whole = math.MaxInt64
	} else if how.Sizes == (match.Sizes{}) {
		how.Sizes = match.Sizes{Whole: searchWhole, Window: searchWindow}
	}
	var one found
	var err error
	if s.lines {
		one.count, one.content, err = s.linesOf(ctx, d, how)
	} else {
		one.count, err = s.pattern.Count(ctx, d, how)
	}
	if err != nil || one.count == 0 && !d.text {
		return err
	}
	one.path, one.asText = d.e.Path(), d.text
	if s.c.FilesWanted && d.whole {
		if info, err := d.file.Stat(); err == nil {
			s.c.stage().Remember(one.path, d.buf[:d.size], info)
		}
	}
	if one.count == 0 {
		s.addText(one.path)
		return nil
	}
	if s.content {
		data, err := d.Bytes(s.maxBytes)
		if err == nil {
			err = s.room.take(len(data))
		}
		if err != nil {
			return err
		}
		one.content = string(data)
	}
	s.add(one)
	return nil
}

// linesOf counts the matches, and returns the lines they are in.
func (s *searching) linesOf(ctx context.Context, d *desk, how match.How) (n int, lines string, err error) {
	w := &lineWriter{context: s.context, room: s.room, no: 1}
	err = s.pattern.Find(ctx, d, how, func(at *match.Window, loc []int) bool {
		n++
		w.data = at.Data
		return w.match(loc[0], loc[1])
	})
	if err != nil {
		return 0, "", err
	}
	shown, err := w.end()
	return n, string(shown), err
}

// ignoreEOF returns nil for the errors with which io.ReadFull says that the file is at its end.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

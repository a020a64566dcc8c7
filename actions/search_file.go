package actions

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/charset"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/walk"
)

const (
	// searchBuffer is the number of bytes of a file read at once, so that they are in the CPU cache when they are
	// searched.
	searchBuffer = 128 << 10
	searchFirst  = 16 << 10 // the buffer of a worker that has only read small files
	pageSize     = 4 << 10
	// searchWhole is the size up to which a file that may match is read into memory as a whole. searchWindow is the number
	// of bytes of a larger file that a worker searches at once.
	searchWhole  = 1 << 20
	searchWindow = 512 << 10
)

// searching is the state of one search. Its method file is safe for concurrent use.
type searching struct {
	Search
	c        *Call
	pattern  *match.Pattern
	room     *showing
	maxBytes int64
	mayMatch func(part []byte) bool // nil if a part of a file cannot show that
	overlap  int
	idle     sync.Pool // of *buffer

	taken   atomic.Bool // at least one file was searched
	mu      sync.Mutex
	found   []found
	visited *sync.Map // set for several paths, which may overlap; nil for one path
	seen    []string  // the text files, if WithoutMatch is set
	textual []string  // files in which an ambiguous pattern occurs as a text but does not match
	large   []string

	encoding charset.Encoding
	left     leaving
}

// buffer is the memory for one worker to search a file.
type buffer struct {
	file handle.Reader
	// buf has room for a part of a file after the end of the part before. A part begins at a multiple of the page size:
	// the system copies faster if both sides have the same alignment.
	buf []byte
	// text is the part of buf that is searched as a whole.
	text match.Bytes
}

// margin returns the size of the part of a buffer for bytes that were read before.
func (s *searching) margin() int { return (s.overlap + pageSize - 1) &^ (pageSize - 1) }

// file searches one file. A file without a match is never held in memory as a whole, if the pattern can be ruled out on
// parts.
func (s *searching) file(ctx context.Context, e walk.Entry) error {
	d, ok := s.idle.Get().(*buffer)
	if !ok {
		d = &buffer{buf: make([]byte, s.margin()+searchFirst)}
	}
	defer s.idle.Put(d)
	switch err := e.OpenIn(&d.file); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotRegular):
		return nil // it was removed or replaced since its directory was read
	case errors.Is(err, fs.ErrPermission) && !s.named(e.Path()):
		s.left.note(LeftOutDenied, e.Path())
		return nil
	case err != nil:
		return err
	}
	defer d.file.Close()
	n, whole, err := s.head(d)
	head := d.buf[:n]
	binary := fsutil.IsBinary(head)
	switch of := s.encoding.Of(head); {
	case err != nil:
		if info, serr := d.file.Stat(); serr == nil && !info.Mode().IsRegular() {
			return nil // such as a new directory, on a file system that can open directories
		}
		return err
	case of == charset.UTF16LE, of == charset.UTF16BE, of == charset.Latin1 && !binary:
		return s.encoded(ctx, e, of)
	case binary:
		s.left.noteBinary(head, e.Path())
		return nil
	case s.NoGenerated && isGenerated(head):
		s.left.note(LeftOutGenerated, e.Path())
		return nil
	case s.WithoutMatch:
		s.note(&s.seen, e.Path())
	}
	switch {
	// Most files have no match, so that is checked first. A file over the size limit has a warning.
	case n == 0, whole && s.mayMatch != nil && int64(n) <= s.maxBytes && !s.mayMatch(head):
		return nil
	case int64(n) > s.maxBytes:
		err = fsutil.ErrTooLarge
	case whole:
		d.text = head
		var name string
		if name, err = s.matches(ctx, e, &d.text, nil); name != "" && err == nil && s.c.FilesWanted {
			if info, err := d.file.Stat(); err == nil {
				s.c.stage().Remember(name, head, info)
			}
		}
	default:
		err = s.long(ctx, e, d, n)
	}
	if errors.Is(err, fsutil.ErrTooLarge) {
		s.tooMuch(e)
		return nil
	}
	return err
}

// named reports whether a file is itself a path to search, not a file below such a path.
func (s *searching) named(file string) bool {
	return slices.ContainsFunc(s.roots(), func(p string) bool { return strings.TrimPrefix(path.Clean(p), "/") == file })
}

// tooMuch records a file over the size limit.
func (s *searching) tooMuch(e walk.Entry) {
	s.note(&s.large, e.Path())
	s.left.note(LeftOutTooLarge, e.Path())
}

// encoded decodes a file that is not UTF-8, and searches it as UTF-8.
func (s *searching) encoded(ctx context.Context, e walk.Entry, of charset.Encoding) error {
	err := s.c.look(e.Path(), s.maxBytes, nil, func(text *source) error {
		decoded, err := decodedText(of, text, nil)
		if err != nil {
			return err
		}
		if s.NoGenerated && isGenerated(decoded.UTF8) {
			s.left.note(LeftOutGenerated, e.Path())
			return nil
		}
		if s.WithoutMatch {
			s.note(&s.seen, e.Path())
		}
		if len(decoded.UTF8) > 0 {
			_, err = s.matches(ctx, e, match.Bytes(decoded.UTF8), nil)
		}
		return err
	})
	switch {
	case errors.Is(err, fsutil.ErrTooLarge):
		s.tooMuch(e)
		return nil
	case errors.Is(err, charset.ErrNotText):
		s.left.note(LeftOutEncoding, e.Path())
		return nil
	}
	return err
}

// head reads the first bytes of a file into the buffer, which grows for a larger file. whole means that the file ends
// there. If the file will not be searched, head reads one piece, which shows whether the file is binary.
func (s *searching) head(d *buffer) (n int, whole bool, err error) {
	n, whole, err = handle.ReadHead(&d.file, d.buf[:min(searchBuffer, len(d.buf)-s.margin())])
	if n < searchBuffer && !whole && err == nil && !fsutil.IsBinary(d.buf[:n]) && !s.tooLarge(d) {
		if size := s.margin() + searchBuffer; len(d.buf) < size {
			d.buf = append(make([]byte, 0, size), d.buf[:n]...)[:size]
		}
		var more int
		more, whole, err = handle.ReadOn(&d.file, d.buf[:searchBuffer], n)
		n += more
	}
	s.c.read(n)
	return n, whole, err
}

func (s *searching) tooLarge(d *buffer) bool {
	info, err := d.file.Stat()
	return err == nil && info.Size() > s.maxBytes
}

// long searches a file that does not fit into the buffer. Its first n bytes are in the buffer.
func (s *searching) long(ctx context.Context, e walk.Entry, d *buffer, n int) error {
	if s.tooLarge(d) {
		return fsutil.ErrTooLarge
	}
	if s.mayMatch != nil && !s.mayMatch(d.buf[:n]) {
		if hit, err := s.rest(ctx, d, n); !hit || err != nil {
			return err
		}
	}
	// The bytes read so far were not kept, so they are read again.
	return s.c.look(e.Path(), s.maxBytes, nil, func(text *source) error {
		if !s.c.FilesWanted {
			text.Once()
		}
		_, err := s.matches(ctx, e, text, &d.buf)
		return err
	})
}

// rest reports whether a part of the file after the first n bytes may match. A file that turns out to be over the size
// limit, as in /proc, is [fsutil.ErrTooLarge].
func (s *searching) rest(ctx context.Context, d *buffer, n int) (hit bool, err error) {
	margin, buf := s.margin(), d.buf
	seen := buf[:n] // the last part
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
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// sizes returns the sizes of the windows for searching a file. A search that shows lines needs the whole file.
func (s *searching) sizes() match.Sizes {
	sizes := cmp.Or(s.c.sizes, match.Sizes{Whole: searchWhole, Window: searchWindow})
	if s.shows() || s.IncludeContent || s.Matches {
		sizes.Whole = math.MaxInt64
	}
	return sizes
}

// matches finds the matches in a file, using the buffer if given. It returns the name of a file that has
// matches, or in which the pattern occurs as a text.
func (s *searching) matches(ctx context.Context, e walk.Entry, text match.Content, buf *[]byte) (string, error) {
	var one found
	var err error
	var seenText *bool // nil for other patterns, to save memory
	how := match.How{Sizes: s.sizes(), Buffer: buf, Name: e.Path()}
	if s.pattern.Ambiguous() {
		seen := new(bool)
		seenText = seen
		how.See = func(part []byte) { *seen = *seen || s.pattern.AsText(part) }
	}
	if s.shows() || s.Matches {
		err = s.look(ctx, e.Path(), text, how, &one)
	} else {
		one.count, err = s.pattern.Count(ctx, text, how)
	}
	err = limitOfSteps(err)
	one.asText = seenText != nil && *seenText
	if err != nil || one.count == 0 && !one.asText {
		return "", err
	}
	name := e.Path()
	if one.count == 0 {
		s.note(&s.textual, name)
		return name, nil
	}
	if s.IncludeContent {
		data, err := text.Bytes(s.maxBytes)
		if err == nil {
			err = s.room.take(len(data))
		}
		if err != nil {
			return "", err
		}
		one.content = string(data)
	}
	one.path = name
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, one)
	return name, nil
}

// look counts the matches, and keeps them and their lines, if the search asks for them.
func (s *searching) look(ctx context.Context, name string, text match.Content, how match.How, one *found) error {
	w := &lineWriter{ctx: ctx, context: max(s.ContextLines, 0), room: s.room, no: 1}
	places := locating{s: s, name: name, line: 1}
	how.Groups = s.Matches
	err := s.pattern.Find(ctx, text, how, func(at *match.Window, loc []int) bool {
		one.count++
		if s.Matches && !places.add(at.Data, loc) {
			return false
		}
		if w.data = at.Data; s.shows() {
			return w.match(loc[0], loc[1])
		}
		return true
	})
	if err = cmp.Or(err, places.err); err != nil || !s.shows() {
		one.matches = places.list
		return err
	}
	shown, err := w.end()
	one.content, one.matches = string(shown), places.list
	return err
}

package match

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

// ErrLongLine says that a text cannot be searched piece by piece, because a line in it is longer than a piece may be.
var ErrLongLine = errors.New("a line is too long to be searched piece by piece")

// The sizes of a zero [Stream].
const (
	DefaultWindow  = 2 << 20  // bytes
	DefaultMaxLine = 16 << 20 // bytes
)

// Stream says how a text is searched that is read piece by piece. The zero Stream works.
type Stream struct {
	// Window is how much is looked at at once, in bytes. It grows where a line is longer. Zero means DefaultWindow.
	Window int
	// MaxLine is the longest line, in bytes, of a text that has to be searched line by line. Zero means DefaultMaxLine.
	MaxLine int
	// Template, if not nil, is what matches are to be replaced by.
	Template *Template
	// Groups says that the groups of a match are wanted too.
	Groups bool
	// Buffer, if not nil, is memory to be used, and made as large as it has to be: for callers that search one text after the other.
	Buffer *[]byte
	// See, if not nil, is given each piece before it is searched. Pieces may overlap. Each line that is searched for itself is
	// in one piece.
	See func(data []byte)
}

// Piece is a part of a text.
type Piece struct {
	Data []byte // only valid for now: the next piece overwrites it
	Off  int64  // where it begins in the text
	// crlf says that it begins a line, and the line before ends in "\r\n".
	crlf bool
}

func (s Stream) withDefaults() Stream {
	if s.Window <= 0 {
		s.Window = DefaultWindow
	}
	if s.MaxLine <= 0 {
		s.MaxLine = DefaultMaxLine
	}
	return s
}

// Streams reports whether [Pattern.Scan] can find the matches: those of a literal text, and of a regular expression that can
// neither match a newline nor look at where the text begins and ends.
func (p *Pattern) Streams() bool {
	if p.exact != nil {
		return true
	}
	// What is looked for as text has to lie within a line, too.
	return p.traits.oneLine && (p.plain == nil || !strings.Contains(p.pattern, "\n"))
}

// ByLine reports whether Scan looks at whole lines, so that it fails with [ErrLongLine] where there are very long ones. t is
// as in [Stream].
func (p *Pattern) ByLine(t *Template) bool {
	// A newline in what replaces a match within a line becomes what that line ends with.
	return p.exact == nil || p.anyEnd && !p.viewed && t != nil && t.lf
}

// Scan finds the same matches as [Pattern.All] does in all that r gives, with no more than a part of it in memory. It calls
// yield for each with the piece it lies in and where it is in that piece, in order; when yield returns false, Scan ends
// without an error. It reads r to the end otherwise. It must only be called if Streams says so.
//
// The error is ErrLongLine, which may come after some matches, that of r, or that of the context.
func (p *Pattern) Scan(ctx context.Context, r io.Reader, how Stream, yield func(at Piece, loc []int) bool) error {
	s := streaming{Pattern: p, ctx: ctx, how: how.withDefaults(), r: r, yield: yield}
	if p.ByLine(how.Template) {
		return s.lines()
	}
	return s.text()
}

// CountIn returns how many matches Scan would find, which it may know in less time.
func (p *Pattern) CountIn(ctx context.Context, r io.Reader, how Stream) (n int, err error) {
	if p.sole != nil || p.machine == nil || p.machine.empty {
		err = p.Scan(ctx, r, how, func(Piece, []int) bool { n++; return true })
		return n, err
	}
	s := streaming{Pattern: p, ctx: ctx, how: how.withDefaults(), r: r, counts: true}
	err = s.lines()
	return s.n, err
}

// streaming is one pass over a text that comes in pieces.
type streaming struct {
	*Pattern
	ctx   context.Context
	how   Stream
	r     io.Reader
	yield func(at Piece, loc []int) bool

	mem     []byte
	buf     []byte // what was read and is not done with: a part of mem
	at      Piece  // begins where buf does
	end     bool   // there is no more to read
	stopped bool   // by yield

	counts bool // in n, and does not call yield. No match is empty.
	n      int
}

// memory returns so many bytes to begin with.
func (s *streaming) memory(size int) []byte {
	given := s.how.Buffer
	if given == nil {
		return make([]byte, size)
	}
	if len(*given) < size {
		*given = make([]byte, size)
	}
	return (*given)[:size:size]
}

// fill reads until the buffer is full.
func (s *streaming) fill() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	n, err := io.ReadFull(s.r, s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		s.end, err = true, nil
	}
	return err
}

// search finds the matches in data, but for an empty one at its end unless that is the end of the text. It returns where the
// last one ends.
func (s *streaming) search(data []byte) (end int, err error) {
	s.at.Data = data
	if s.how.See != nil {
		s.how.See(data)
	}
	if s.counts {
		n, err := s.Count(s.ctx, data)
		s.n += n
		return 0, err
	}
	err = s.scan(s.ctx, data, s.how.Groups, func(loc []int) bool {
		if loc[0] == len(data) && !s.end {
			return true // the empty match belongs to what comes next
		}
		end = loc[1]
		s.stopped = !s.yield(s.at, loc)
		return !s.stopped
	})
	return end, err
}

// drop forgets the first n bytes of the buffer. What is left is put where the next reading begins at a page of memory: the
// system copies twice as fast where a file and the memory for it are aligned alike.
func (s *streaming) drop(n int) {
	s.at.Off += int64(n)
	rest := s.buf[n:]
	edge := aligned(len(rest))
	if edge >= len(s.mem) {
		edge = len(rest)
	}
	s.buf = s.mem[edge-len(rest) : edge]
	copy(s.buf, rest)
}

// aligned returns the least multiple of the size of a page that is not below n.
func aligned(n int) int {
	const page = 4 << 10
	return (n + page - 1) &^ (page - 1)
}

// text looks for a literal text. Its matches are found wherever a piece begins, so it may begin anywhere but in a match.
func (s *streaming) text() error {
	longest := s.exact.size()
	if s.viewed {
		longest += strings.Count(s.pattern, "\n") // each may be a "\r\n"
	}
	s.mem = s.memory(max(s.how.Window, 1) + aligned(longest))
	s.buf = s.mem[:0]
	for !s.end {
		if err := s.fill(); err != nil {
			return err
		}
		end, err := s.search(s.buf)
		if err != nil || s.stopped {
			return err
		}
		// What could begin a match that goes on behind the buffer is kept. If that is a "\n" whose "\r" is not, no match begins
		// at either: it would have been found with the "\r".
		s.drop(max(end, len(s.buf)-longest+1, 0))
	}
	return nil
}

// lines looks at whole lines. Nothing that matches, nor what is looked at for it, reaches beyond one.
func (s *streaming) lines() error {
	s.mem = s.memory(s.how.Window)
	s.buf = s.mem[:0]
	for !s.end {
		if err := s.fill(); err != nil {
			return err
		}
		cut := len(s.buf)
		if !s.end {
			cut = bytes.LastIndexByte(s.buf, '\n') + 1
		}
		if cut == 0 && !s.end {
			if len(s.buf) >= s.how.MaxLine {
				return ErrLongLine
			}
			s.mem = make([]byte, min(2*len(s.mem), max(s.how.MaxLine, len(s.mem)+1)))
			s.buf = s.mem[:copy(s.mem, s.buf)]
			continue
		}
		if _, err := s.search(s.buf[:cut]); err != nil || s.stopped {
			return err
		}
		s.at.crlf = bytes.HasSuffix(s.buf[:cut], crlf)
		s.drop(cut)
	}
	return nil
}

// PieceReplacer is [Pattern.Replacer] for the matches in one piece of a text, found by a Scan with that template.
func (p *Pattern) PieceReplacer(t Template, at Piece) *Replacer {
	return p.replacer(t, at.Data, at.crlf)
}

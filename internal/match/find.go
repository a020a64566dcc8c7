package match

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
)

// Content is a text of any size to search.
type Content interface {
	// Size returns the number of bytes, 0 or less if it is not known.
	Size() int64
	// Bytes returns all bytes, which are shared and must not change. More than most bytes are an error.
	Bytes(most int64) ([]byte, error)
	// Open opens a stream of the bytes.
	Open() (io.ReadCloser, error)
}

// Bytes is a [Content] in memory.
type Bytes []byte

// Size implements [Content].
func (b Bytes) Size() int64 { return int64(len(b)) }

// Bytes implements [Content].
func (b Bytes) Bytes(int64) ([]byte, error) { return b, nil }

// Open implements [Content].
func (b Bytes) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// How has the options of a search. The zero How works.
type How struct {
	// Sizes are the sizes of windows.
	Sizes Sizes
	// Name is the name of the text. The language of a structural pattern follows from it.
	Name string
	// Template, if not nil, is the replacement of matches.
	Template *Template
	// Groups requests the groups of each match too.
	Groups bool
	// Lines requests the line numbers of windows.
	Lines bool
	// Buffer, if not nil, is memory to use, and is enlarged as needed: for callers that search many texts.
	Buffer *[]byte
	// See, if not nil, is called with the bytes of each window before it is searched. Windows may overlap. Each line that
	// is searched on its own is completely in a window.
	See func(data []byte)
}

// Window is a part of a text, or the whole text.
type Window struct {
	Data []byte // only valid until the next window
	Off  int64  // its offset in the text
	Line int    // the number of newlines before it, if [How.Lines] is set
	// crlf means that the window begins a line, and the line before ends in "\r\n".
	crlf bool
}

// Find calls yield for each match, in order, as [regexp.Regexp.FindAllSubmatchIndex] finds them in the whole text: with
// the window of the match, and its place in the window. loc[0] and loc[1] are the begin and end of the match and, with
// groups, loc[2*i] and loc[2*i+1] are the begin and end of group i, -1 if the group took no part. Both are valid until
// yield returns; if yield returns false, Find ends without an error.
//
// The whole text is one window if it is not larger than [Sizes].Whole, or if the pattern is not literal and either may
// match across lines or looks at the begin or end of the text. All other texts are read to their end window by window.
// Matches are found one by one: nothing is stored for later matches, and the context is checked between matches and
// within long matches. The error is from the context or the text; yield may have been called for some matches by then.
func (p *Pattern) Find(ctx context.Context, text Content, how How, yield func(at *Window, loc []int) bool) error {
	s := search{Pattern: p, ctx: ctx, how: how, yield: yield}
	return s.run(text)
}

// Count returns the number of matches that Find would find. It may be faster.
func (p *Pattern) Count(ctx context.Context, text Content, how How) (int, error) {
	s := search{Pattern: p, ctx: ctx, how: how}
	err := s.run(text)
	return s.n, err
}

// search is one pass over a text. It finds the matches window by window.
type search struct {
	*Pattern
	ctx   context.Context
	how   How
	yield func(at *Window, loc []int) bool // nil if matches are only counted

	r   io.Reader
	mem []byte
	buf []byte // bytes that were read and are still needed: a part of mem
	at  Window // begins where buf does
	// the window for yield, if shown is set: a search that only counts, or finds nothing, needs no memory
	out *Window

	shown   bool
	last    bool // nothing follows the window
	cuts    bool // the end of the last match in a window is needed
	end     int  // the end of the last match
	n       int  // matches so far
	stopped bool // by yield
	view    *view
}

func (s *search) run(text Content) error {
	s.how.Sizes = s.how.Sizes.withDefaults()
	if size := text.Size(); !s.how.Sizes.Fit(size) && s.Streams() {
		return s.stream(text, size)
	}
	data, err := text.Bytes(math.MaxInt64)
	if err != nil {
		return err
	}
	s.at, s.last = Window{Data: data}, true
	return s.window()
}

func (s *search) stream(text Content, size int64) error {
	r, err := text.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	s.r = r
	byLines, longest := s.byLines(), 0
	if !byLines {
		longest, s.cuts = s.exact.size(), true
		if s.viewed {
			longest += strings.Count(s.pattern, "\n") // each may be a "\r\n"
		}
	}
	s.mem = s.memory(s.how.Sizes.Window + aligned(longest))
	s.buf = s.mem[:0]
	for !s.last {
		if err := s.fill(); err != nil {
			return err
		}
		cut := len(s.buf)
		if byLines && !s.last {
			if cut = bytes.LastIndexByte(s.buf, '\n') + 1; cut == 0 {
				s.mem = make([]byte, s.how.Sizes.larger(len(s.mem), size-s.at.Off))
				s.buf = s.mem[:copy(s.mem, s.buf)]
				continue
			}
		}
		s.at.Data = s.buf[:cut]
		if err := s.window(); err != nil || s.stopped {
			return err
		}
		if byLines {
			s.at.crlf = bytes.HasSuffix(s.at.Data, crlf)
		} else {
			// Bytes that could begin a match beyond the buffer are kept. If they begin at a "\n" without its "\r", no match
			// begins at either of the two: it would have been found with the "\r".
			cut = max(s.end, len(s.buf)-longest+1, 0)
		}
		s.drop(cut)
	}
	return nil
}

// Streams reports whether the matches can be found in a text part by part. This holds for a literal text, and for a
// regular expression that can neither match a newline nor look at the begin or end of the text.
func (p *Pattern) Streams() bool {
	if p.exact != nil {
		return true
	}
	// A literal pattern must be within a line, too.
	return p.traits.oneLine && (p.plain == nil || !strings.Contains(p.pattern, "\n"))
}

// byLines reports whether windows must end at line ends. Then no match, and nothing that a match depends on, reaches
// beyond a line. A literal text is found wherever a window begins, except within a match.
func (s *search) byLines() bool {
	// A newline in the replacement of a match within a line becomes the line end of that line.
	return s.exact == nil || s.anyEnd && !s.viewed && s.how.Template != nil && s.how.Template.lf
}

func (s *search) memory(size int) []byte {
	given := s.how.Buffer
	if given == nil {
		return make([]byte, size)
	}
	if len(*given) < size {
		*given = make([]byte, size)
	}
	return (*given)[:size:size]
}

func (s *search) fill() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	n, err := io.ReadFull(s.r, s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		s.last, err = true, nil
	}
	return err
}

// drop removes the first n bytes of the buffer. The rest is placed so that the next read begins at a page of memory:
// the system copies twice as fast if a file and its memory are aligned in the same way.
func (s *search) drop(n int) {
	s.at.Off += int64(n)
	if s.how.Lines {
		s.at.Line += bytes.Count(s.buf[:n], crlf[1:])
	}
	rest := s.buf[n:]
	edge := aligned(len(rest))
	if edge >= len(s.mem) {
		edge = len(rest)
	}
	s.buf = s.mem[edge-len(rest) : edge]
	copy(s.buf, rest)
}

package match

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
)

// Content is what is searched, of any size.
type Content interface {
	// Size returns how many bytes there are, 0 or less if that is not known.
	Size() int64
	// Bytes returns all of them, which are shared and must not change. More than most are an error.
	Bytes(most int64) ([]byte, error)
	// Open begins to read them.
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

// How describes how a text is searched. The zero How works.
type How struct {
	// Sizes are those of windows.
	Sizes Sizes
	// Name is that of the text, from which a structural pattern takes the language.
	Name string
	// Template, if not nil, is what matches are to be replaced by.
	Template *Template
	// Groups means that the groups of a match are wanted too.
	Groups bool
	// Lines means that the windows are to know their lines.
	Lines bool
	// Buffer, if not nil, is memory to be used, and made as large as it has to be: for callers that search one text
	// after the other.
	Buffer *[]byte
	// See, if not nil, is given the bytes of each window before it is searched. Windows may overlap. Each line that is
	// searched for itself is in one of them.
	See func(data []byte)
}

// Window is a part of a text, or all of it.
type Window struct {
	Data []byte // only valid until the next window comes
	Off  int64  // where it begins in the text
	Line int    // how many newlines are before it, if [How.Lines] asks for that
	// crlf means that it begins a line, and the line before ends in "\r\n".
	crlf bool
}

// Find calls yield for each match, in order, as [regexp.Regexp.FindAllSubmatchIndex] finds them in the whole text:
// with the window that it lies in, and where it is in that. loc[0] and loc[1] are where it begins and ends and, with
// groups, loc[2*i] and loc[2*i+1] group i, -1 if that took no part. Both are valid until yield returns; when it
// returns false, Find ends without an error.
//
// A text that is not larger than [Sizes].Whole is one window, and so is any text if the pattern may match across
// lines, but for a literal one, or looks at where the text begins and ends. All others are read to their end window
// by window. Matches are found one by one: nothing is held for those to come, and between two of them, and within one
// that takes long, the context is looked at. The error is that of the context or of the text; some matches may have
// been seen by then.
func (p *Pattern) Find(ctx context.Context, text Content, how How, yield func(at *Window, loc []int) bool) error {
	s := search{Pattern: p, ctx: ctx, how: how, yield: yield}
	return s.run(text)
}

// Count returns how many matches Find would find, which it may know in less time.
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
	buf []byte // what was read and is not done with: a part of mem
	at  Window // begins where buf does
	// what yield is given of it, if shown is set: a search that only counts, or finds nothing, takes no memory
	out *Window

	shown   bool
	last    bool // there is nothing behind the window
	cuts    bool // where the last match in a window ends has to be known
	end     int  // that
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
			// Bytes that could begin a match beyond the buffer are kept. If they begin at a "\n" without its "\r", no
			// match begins at either: it would have been found with the "\r".
			cut = max(s.end, len(s.buf)-longest+1, 0)
		}
		s.drop(cut)
	}
	return nil
}

// Streams reports whether the matches can be found in one part of a text after the other: those of a literal text,
// and of a regular expression that can neither match a newline nor look at where the text begins and ends.
func (p *Pattern) Streams() bool {
	if p.exact != nil {
		return true
	}
	// A literal pattern must lie within a line, too.
	return p.traits.oneLine && (p.plain == nil || !strings.Contains(p.pattern, "\n"))
}

// byLines reports whether windows have to end where lines do. Nothing that matches, nor what is looked at for it,
// reaches beyond a line then. A literal text is found wherever a window begins, but in a match.
func (s *search) byLines() bool {
	// A newline in what replaces a match within a line becomes what that line ends with.
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

// drop forgets the first n bytes of the buffer. The rest is put where the next reading begins at a page of
// memory: the system copies twice as fast where a file and the memory for it are aligned alike.
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

package actions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

// streamFrom is the size from which on a file is read piece by piece where the patterns allow it, in bytes.
const streamFrom = 8 << 20

// pieces says how large files are read. The zero pieces has the sizes of a program, others are for tests.
type pieces struct {
	from    int64 // the size of files that are read piece by piece, in bytes; 0 means streamFrom
	window  int   // as in match.Stream
	maxLine int
}

// least returns the size from which on files are read piece by piece.
func (p pieces) least() int64 { return cmp.Or(p.from, streamFrom) }

// scan is the method Scan of a pattern, with the sizes of the call.
func (c *Call) scan(ctx context.Context, r io.Reader, p *match.Pattern, how match.Stream, yield func(at match.Piece, loc []int) bool) error {
	how.Window, how.MaxLine = c.pieces.window, c.pieces.maxLine
	return p.Scan(ctx, r, how, yield)
}

// countIn is the method CountIn of a pattern, likewise.
func (c *Call) countIn(ctx context.Context, r io.Reader, p *match.Pattern, how match.Stream) (int, error) {
	how.Window, how.MaxLine = cmp.Or(c.pieces.window, how.Window), c.pieces.maxLine
	return p.CountIn(ctx, r, how)
}

// readOr returns the bytes of a file as readFile does, or says that it is one to be read piece by piece, if that can be.
func (c *Call) readOr(name string, pieces bool) (data []byte, large bool, err error) {
	large, err = c.either(name, pieces, func(most int64) error {
		data, err = c.FS.ReadFileMax(name, most)
		c.read(len(data))
		return err
	})
	return data, large, err
}

// viewOr is readOr for bytes that are only valid until do returns.
func (c *Call) viewOr(name string, pieces bool, do func(data []byte) error) (large bool, err error) {
	return c.either(name, pieces, func(most int64) error {
		return c.FS.View(name, most, func(data []byte) error {
			c.read(len(data))
			return do(data)
		})
	})
}

// either calls whole for a file of at most so many bytes, or says that it is one to be read piece by piece, if that can be.
func (c *Call) either(name string, pieces bool, whole func(most int64) error) (large bool, err error) {
	most := c.Limits.FileBytes()
	if pieces && c.pieces.least() <= most {
		err := whole(c.pieces.least() - 1)
		if !errors.Is(err, fsutil.ErrTooLarge) {
			return false, err
		}
		// A file that does not say its size, as in /proc, comes here too.
		info, err := c.FS.Stat(name)
		if err == nil && info.Size() >= c.pieces.least() && info.Size() <= most {
			return true, nil
		}
	}
	return false, c.tooLarge(name, whole(most))
}

// countPieces counts the matches of a pattern in a file without holding more than a part of it. The error may be
// [match.ErrLongLine].
func (c *Call) countPieces(ctx context.Context, p *match.Pattern, name string) (n int, err error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return c.countIn(ctx, c.reading(f), p, match.Stream{})
}

// reading is a reader that tells of the bytes it reads.
func (c *Call) reading(r io.Reader) io.Reader { return &readingAloud{r, c.read} }

type readingAloud struct {
	r    io.Reader
	tell func(n int)
}

func (r *readingAloud) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.tell(n)
	return n, err
}

// streams reports whether all patterns can be looked for piece by piece.
func (r *replacing) streams() bool {
	return !slices.ContainsFunc(r.list, func(one *replacement) bool { return !one.pattern.Streams() })
}

// inPieces is file for one that is not held as a whole. The error may be [match.ErrLongLine]; nothing is staged then.
func (r *replacing) inPieces(ctx context.Context, c *Call, name string) (n int, err error) {
	p := passes{replacing: r, c: c, name: name, left: c.budget()}
	defer func() { err = cmp.Or(err, c.spend(p.left)) }()
	if r.simultaneous {
		return p.together(ctx)
	}
	var before fsutil.Hash
	if len(r.list) > 1 {
		if before, err = c.FS.HashFile(name); err != nil {
			return 0, err
		}
	}
	edits, rounds := 0, 0
	for i := range r.list {
		n, err := p.one(ctx, i, false)
		if err == match.ErrLongLine && rounds > 0 { //nolint:errorlint // it comes as it is
			n, err = p.one(ctx, i, true)
		}
		if err != nil && rounds > 0 {
			return 0, partlyStaged{err}
		}
		if err != nil {
			return 0, err
		}
		if edits += n; n > 0 {
			rounds++
		}
	}
	if rounds > 1 {
		switch after, err := c.FS.HashFile(name); {
		case err != nil:
			return 0, err
		case after == before:
			return 0, nil // one edit has taken back what another one did
		}
	}
	return edits, nil
}

// passes are the readings of one file.
type passes struct {
	*replacing
	c    *Call
	name string
	left *budget
	seen bool // it was read once, so its bytes are counted and it is known not to be binary
}

// one makes one replacement, with the content in one piece if whole is set, and returns how many places it changed.
func (p *passes) one(ctx context.Context, i int, whole bool) (n int, err error) {
	budget := *p.left
	var found tally
	err = p.c.FS.EditStream(p.name, func(content *fsutil.Content, emit func(fsutil.Splice)) error {
		*p.left, found = budget, tally{} // it may be the second time
		if !whole {
			return p.scan(ctx, content, i, &found, func(sp fsutil.Splice, _ span) { emit(sp) })
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		splices, err := p.splices(ctx, p.c.Step, i, data, p.left)
		for _, sp := range splices {
			emit(sp)
		}
		found.changed = len(splices)
		return err
	})
	if err == nil {
		found.note(p.list[i])
	}
	return found.changed, err
}

// together makes all replacements, none of which sees what another one does.
func (p *passes) together(ctx context.Context) (int, error) {
	budget := *p.left
	var found []tally
	total := 0
	err := p.c.FS.EditStream(p.name, func(content *fsutil.Content, emit func(fsutil.Splice)) error {
		*p.left, found = budget, make([]tally, len(p.list))
		var all []fsutil.Splice
		var matches spans
		for i := range p.list {
			if i > 0 {
				if err := content.Rewind(); err != nil {
					return err
				}
			}
			err := p.scan(ctx, content, i, &found[i], func(sp fsutil.Splice, at span) {
				matches.list = append(matches.list, at)
				if sp.By != nil {
					all = append(all, sp)
				}
			})
			if err != nil {
				return err
			}
		}
		if over, off := matches.overlap(); over != nil {
			return p.locate(content, over, off)
		}
		sortSplices(all)
		for _, sp := range all {
			emit(sp)
		}
		total = len(all)
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range found {
		found[i].note(p.list[i])
	}
	return total, nil
}

// locate returns the error with the number of the line that the offset is in.
func (p *passes) locate(content *fsutil.Content, over *OverlapError, off int) error {
	err := content.Rewind()
	buf := make([]byte, 64<<10)
	over.Line = 1
	for r := io.LimitReader(content, int64(off)); err == nil; {
		var n int
		n, err = r.Read(buf)
		over.Line += bytes.Count(buf[:n], []byte{'\n'})
	}
	if err != io.EOF {
		return err
	}
	return over
}

// tally is what one replacement has come to in one file.
type tally struct{ matched, changed int }

func (t tally) note(one *replacement) {
	if t.matched > 0 {
		one.matched.Store(true)
	}
	if t.changed > 0 {
		one.changed.Store(true)
	}
}

// scan finds the matches of one replacement, and calls found for each with what it becomes: a splice without an author if
// that is what it was.
func (p *passes) scan(ctx context.Context, content io.Reader, i int, t *tally, found func(fsutil.Splice, span)) error {
	one := p.list[i]
	if !p.seen {
		ahead := bufio.NewReaderSize(p.c.reading(content), 8<<10)
		head, err := ahead.Peek(8 << 10)
		if err != nil && err != io.EOF {
			return err
		}
		if !p.binary && fsutil.IsBinary(head) {
			return ErrBinary
		}
		content, p.seen = ahead, true
	}
	by := []fsutil.Origin{{Step: p.c.Step, Edit: i}}
	var replacer *match.Replacer
	piece := int64(-1)
	var over error
	err := p.c.scan(ctx, content, one.pattern, match.Stream{Template: &one.template, Groups: true}, func(at match.Piece, loc []int) bool {
		t.matched++
		if piece != at.Off {
			replacer, piece = one.pattern.PieceReplacer(one.template, at), at.Off
		}
		sp := fsutil.Splice{Off: at.Off + int64(loc[0]), Len: int64(loc[1] - loc[0])}
		text, err := p.left.replace(replacer, loc, at.Data)
		if text != nil {
			t.changed++
			sp.Text, sp.By = text, by
		}
		if over = err; text != nil || p.simultaneous {
			found(sp, span{int(sp.Off), int(sp.Off + sp.Len), i})
		}
		return over == nil
	})
	return cmp.Or(over, err)
}

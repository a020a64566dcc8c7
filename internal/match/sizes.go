package match

import (
	"cmp"
	"context"
	"io"
	"math"
)

// Sizes are the sizes of the parts in which a text is processed. A zero field means its default.
type Sizes struct {
	// Whole is the size of the largest text that is a single window, in bytes. The default is 8 MiB minus one byte; with a
	// negative value no text is.
	Whole int64
	// Window is the size of a window of a larger text, in bytes. It grows for longer lines. The default is 2 MiB.
	Window int
	// Line is the largest length of a line, in bytes, before the window grows to the rest of the text. The default is 16
	// MiB.
	Line int
}

func (s Sizes) withDefaults() Sizes {
	return Sizes{Whole: cmp.Or(s.Whole, 8<<20-1), Window: cmp.Or(s.Window, 2<<20), Line: cmp.Or(s.Line, 16<<20)}
}

// Fit reports whether a text of that size fits one window. A text of unknown size fits.
func (s Sizes) Fit(size int64) bool { return size <= max(0, s.withDefaults().Whole) }

// larger returns the size of a window for a longer line. have is the present size, left is the rest of the text, 0 if
// it is not known.
func (s Sizes) larger(have int, left int64) int {
	size := 2 * int64(have)
	if have >= s.Line {
		size = max(size, left+1) // one byte more than the rest shows the end
	}
	return int(min(size, math.MaxInt))
}

// aligned returns the smallest multiple of the page size that is at least n.
func aligned(n int) int {
	const page = 4 << 10
	return (n + page - 1) &^ (page - 1)
}

// passWindow is the size of the parts of a larger text in [Pass], in bytes.
const passWindow = 64 << 10

// Pass calls do for one part of a text after the other, until it returns false. A text that fits one window is a single
// part. Parts are only valid until do returns. The error is from the context or the text.
func Pass(ctx context.Context, text Content, sizes Sizes, do func(part []byte) bool) error {
	if sizes.Fit(text.Size()) {
		data, err := text.Bytes(math.MaxInt64)
		if err == nil {
			do(data)
		}
		return err
	}
	r, err := text.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	for buf := make([]byte, passWindow); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf)
		switch last := err == io.EOF || err == io.ErrUnexpectedEOF; {
		case err != nil && !last:
			return err
		case n > 0 && !do(buf[:n]), last:
			return nil
		}
	}
}

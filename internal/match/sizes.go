package match

import (
	"cmp"
	"context"
	"io"
	"math"
)

// Sizes say how much of a text is looked at at once. A zero field has its default.
type Sizes struct {
	// Whole is the largest text that is one window, in bytes. The default is 8 MiB less one; negative means that there
	// is none.
	Whole int64
	// Window is how much of a larger text is looked at at once, in bytes. It grows where a line is longer. The default
	// is 2 MiB.
	Window int
	// Line is how long a line may be, in bytes, before the window grows to all that is left of the text. The default is
	// 16 MiB.
	Line int
}

func (s Sizes) withDefaults() Sizes {
	return Sizes{Whole: cmp.Or(s.Whole, 8<<20-1), Window: cmp.Or(s.Window, 2<<20), Line: cmp.Or(s.Line, 16<<20)}
}

// Fit reports whether a text of that size fits one window. A text of unknown size does.
func (s Sizes) Fit(size int64) bool { return size <= max(0, s.withDefaults().Whole) }

// larger returns the size of a window that is to hold a longer line. have is what it holds, of a text of which so
// much is left; 0 if that is not known.
func (s Sizes) larger(have int, left int64) int {
	size := 2 * int64(have)
	if have >= s.Line {
		size = max(size, left+1) // a byte more than there is shows the end
	}
	return int(min(size, math.MaxInt))
}

// aligned returns the least multiple of the size of a page that is not below n.
func aligned(n int) int {
	const page = 4 << 10
	return (n + page - 1) &^ (page - 1)
}

// passWindow is how much of a text that does not fit one window is looked at at once by [Pass], in bytes.
const passWindow = 64 << 10

// Pass calls do with one part of a text after the other, until it returns false. A text that fits one window is one
// part. Parts are only valid until do returns. The error is that of the context or of the text.
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

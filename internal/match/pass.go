package match

import (
	"context"
	"io"
	"math"
)

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

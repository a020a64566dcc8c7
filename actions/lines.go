package actions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/lineedit"
	"github.com/millrace-go/millrace/internal/match"
)

// divide divides a text into lines. tee, if not nil, is given all of the text.
func (c *Call) divide(ctx context.Context, text match.Content, tee io.Writer) (*lineedit.File, error) {
	return lineedit.New(func(do func(part []byte) bool) error { return match.Pass(ctx, text, c.sizes, do) }, tee)
}

// hashOf returns the hash of a text.
func (c *Call) hashOf(ctx context.Context, text match.Content) (fsutil.Hash, error) {
	sum := sha256.New()
	// hashes do not fail
	err := match.Pass(ctx, text, c.sizes, func(part []byte) bool { _, _ = sum.Write(part); return true })
	return fsutil.Hash(sum.Sum(nil)), err
}

// section is a part of a text, by offsets.
type section struct{ from, to int64 }

// sections calls do with the bytes of each section, piece by piece in the order of the text.
func (c *Call) sections(ctx context.Context, text match.Content, list []section, do func(i int, piece []byte)) error {
	end := int64(0)
	for _, s := range list {
		end = max(end, s.to)
	}
	if end == 0 {
		return nil
	}
	off := int64(0)
	err := match.Pass(ctx, text, c.sizes, func(part []byte) bool {
		for i, s := range list {
			if from, to := max(s.from, off), min(s.to, off+int64(len(part))); from < to {
				if ctx.Err() != nil {
					return false // all sections together may be many times the text
				}
				do(i, part[from-off:to-off])
			}
		}
		off += int64(len(part))
		return off < end
	})
	if err = cmp.Or(err, ctx.Err()); err == nil && off < end {
		err = fsutil.ErrDrift // it has become shorter since its lines were counted
	}
	return err
}

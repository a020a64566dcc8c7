package scratch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
)

// Kept is the JSON form of a Change with its bytes.
type Kept struct {
	Path   string      `json:"path"`
	From   string      `json:"from,omitempty"`
	Kind   change.Kind `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"`
	// Bytes are the bytes of a file that was written, nil for all else.
	Bytes []byte `json:"bytes,omitzero"`
}

// Keep returns the changes with their bytes. If there are more than most bytes, the error is a *[LimitError]. A name
// that is not UTF-8 is an error, because JSON would change it.
func Keep(ctx context.Context, changes []Change, most int64) ([]Kept, error) {
	list := make([]Kept, 0, len(changes))
	left := most
	for i := range changes {
		c := &changes[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, name := range [...]string{c.Path, c.From, c.Target} {
			if !utf8.ValidString(name) {
				return nil, fmt.Errorf("%q is no UTF-8, so it cannot be kept", name)
			}
		}
		k := Kept{Path: c.Path, From: c.From, Kind: c.Kind, Mode: c.Mode, Target: c.Target}
		if c.Written {
			if left -= c.Size; left < 0 {
				return nil, &LimitError{What: "bytes of changed files to be kept", Limit: most, Got: most - left}
			}
			data, err := readAll(c)
			if err != nil {
				return nil, err
			}
			k.Bytes = append([]byte{}, data...) // never nil, because an empty file was written too
		}
		list = append(list, k)
	}
	return list, nil
}

// Change returns the kept change. It checks nothing: [Stage] does that.
func (k Kept) Change() Change {
	c := Change{Path: k.Path, From: k.From, Kind: k.Kind, Mode: k.Mode, Target: k.Target}
	if k.Bytes != nil {
		c.Written, c.Size = true, int64(len(k.Bytes))
		c.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(k.Bytes)), nil }
	}
	return c
}

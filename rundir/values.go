package rundir

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/internal/recordlog"
)

// maxValue is the largest size of a value that is read into memory, in bytes.
const maxValue = 256 << 20

// bytes returns the bytes of a value. data is the file of the run's data; it is opened only if it is needed.
func (v value) bytes(data io.ReaderAt) ([]byte, error) {
	switch {
	case v.JSON != nil:
		return v.JSON, nil
	case v.Bytes != nil:
		return v.Bytes, nil
	case v.Span != nil:
		return recordlog.Get(data, *v.Span, maxValue)
	}
	return nil, nil
}

// size returns the size of a value.
func (v value) size() int64 {
	if v.Span != nil {
		return v.Span.Length
	}
	return int64(max(len(v.JSON), len(v.Bytes)))
}

// decodeUpTo is decode for a value of at most that many bytes.
func (v value) decodeUpTo(most int64, data io.ReaderAt, into any) error {
	if v.size() > most {
		return fmt.Errorf("it has %d bytes, at most %d are read for this", v.size(), most)
	}
	return v.decode(data, into)
}

// decode decodes a JSON value. An empty value leaves into unchanged.
func (v value) decode(data io.ReaderAt, into any) error {
	text, err := v.bytes(data)
	if err != nil || text == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// lazyData is the data of a run for reading. The file is opened when it is first needed.
type lazyData struct {
	layout
	number int64
	f      interface {
		io.ReaderAt
		io.Closer
	}
}

// ReadAt implements [io.ReaderAt].
func (d *lazyData) ReadAt(p []byte, offset int64) (int, error) {
	if d.f == nil {
		f, err := d.openToRead(d.number, dataFile)
		if err != nil {
			return 0, fmt.Errorf("the data of run %d: %w", d.number, err)
		}
		d.f = f
	}
	return d.f.ReadAt(p, offset)
}

// Close closes the file.
func (d *lazyData) Close() {
	if d.f != nil {
		_ = d.f.Close() // it was only read
	}
}

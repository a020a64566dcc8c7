package recordlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// MaxData limits the size of a [Data], in bytes.
const MaxData = 4 << 30

// Span identifies bytes of a [Data].
type Span struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
	// SHA256 is the hash of the bytes, 64 hexadecimal digits.
	SHA256 string `json:"sha256"`
}

// end returns the offset after the bytes. ok is false if no Data can have such bytes.
func (s Span) end() (int64, bool) {
	if s.Offset < 0 || s.Length < 0 || s.Offset > MaxData || s.Length > MaxData-s.Offset {
		return 0, false
	}
	return s.Offset + s.Length, true
}

// Data is a file of bytes that records refer to. Bytes are only ever appended. Appended bytes can be read immediately;
// the caller makes them durable before the record that refers to them. It is safe for concurrent use.
type Data struct {
	mu   sync.Mutex
	open func() (File, error)
	f    File // nil: not opened yet
	end  int64
	// clean means that the file has no bytes after end.
	clean  bool
	failed error // of a Sync
	dirty  bool  // something may have been appended since the last Sync
	mark   int64 // start of the bytes that Since has not returned yet
	since  hash.Hash
}

// NewData returns a Data that appends after the first end bytes of the file that open returns. The file is opened when
// it is first needed. The first append cuts off any bytes after end.
func NewData(open func() (File, error), end int64) *Data {
	// Another process may have appended bytes without making them durable.
	return &Data{open: open, end: end, mark: end, since: sha256.New(), dirty: end > 0}
}

func (d *Data) file() (File, error) {
	if d.f == nil {
		f, err := d.open()
		if err != nil {
			return nil, err
		}
		d.f = f
	}
	return d.f, nil
}

// Append writes bytes and returns their offset. The error matches [ErrFull] if the file has no room for them.
func (d *Data) Append(p []byte) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return 0, d.failed
	}
	if int64(len(p)) > MaxData-d.end {
		return 0, fmt.Errorf("%w: %d bytes behind %d, at most %d are possible", ErrFull, len(p), d.end, int64(MaxData))
	}
	f, err := d.file()
	if err != nil {
		return 0, err
	}
	if !d.clean {
		if err := cutAt(f, d.end); err != nil {
			return 0, err
		}
	}
	d.clean = false
	if err := writeAt(f, p, d.end); err != nil {
		return 0, err
	}
	d.clean, d.dirty = true, true
	at := d.end
	d.end += int64(len(p))
	d.since.Write(p)
	return at, nil
}

// Put is Append, but returns the Span of the bytes.
func (d *Data) Put(p []byte) (Span, error) {
	at, err := d.Append(p)
	if err != nil {
		return Span{}, err
	}
	sum := sha256.Sum256(p)
	return Span{at, int64(len(p)), hex.EncodeToString(sum[:])}, nil
}

// Since returns a Span of all bytes appended since its last call, or since NewData. One Span in the next record thus
// proves that all of them are complete.
func (d *Data) Since() Span {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Span{d.mark, d.end - d.mark, hex.EncodeToString(d.since.Sum(nil))}
	d.mark = d.end
	d.since.Reset()
	return s
}

// ReadAt reads bytes of the file, appended or older ones.
func (d *Data) ReadAt(p []byte, offset int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file()
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, offset)
	switch {
	case n == len(p):
		err = nil
	case err == nil: // some file systems do not report it
		err = io.EOF
	}
	return n, err
}

// Sync makes the appended bytes durable, and does nothing if they already are. After an error, nothing more can be
// appended.
func (d *Data) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil || !d.dirty {
		return d.failed
	}
	f, err := d.file()
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		d.failed = fmt.Errorf("the data of records may be lost: %w", err)
		return d.failed
	}
	d.dirty = false
	return nil
}

// Close closes the file.
func (d *Data) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.f == nil {
		return nil
	}
	return d.f.Close()
}

// ErrBytes reports that bytes differ from the bytes that a record refers to.
var ErrBytes = errors.New("the bytes are not those that the record names")

// Get returns the bytes of the span, at most most of them. The error matches [ErrBytes] if they differ.
func Get(from io.ReaderAt, s Span, most int64) ([]byte, error) {
	if _, ok := s.end(); !ok || s.Length > most {
		return nil, fmt.Errorf("%w: %d bytes at %d, at most %d are read", ErrBytes, s.Length, s.Offset, most)
	}
	// The file may be shorter than the record states: memory is allocated only for existing bytes.
	p, err := io.ReadAll(io.NewSectionReader(from, s.Offset, s.Length))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(p); int64(len(p)) != s.Length || hex.EncodeToString(sum[:]) != s.SHA256 {
		return nil, fmt.Errorf("%w: %d bytes at %d", ErrBytes, s.Length, s.Offset)
	}
	return p, nil
}

// Check is Get without returning the bytes, so it has no limit. It returns the offset after them.
func Check(from io.ReaderAt, s Span) (int64, error) {
	end, ok := s.end()
	if !ok {
		return 0, fmt.Errorf("%w: %d bytes at %d", ErrBytes, s.Length, s.Offset)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(from, s.Offset, s.Length))
	if err == nil && (n != s.Length || hex.EncodeToString(h.Sum(nil)) != s.SHA256) {
		err = fmt.Errorf("%w: %d bytes at %d", ErrBytes, s.Length, s.Offset)
	}
	return end, err
}

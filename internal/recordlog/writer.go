package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// File is an open file as the writers use it: an afero.File that was not opened to append.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// ErrFull reports that a file has no room for more.
var ErrFull = errors.New("the file is full")

// Writer appends records to a file. It is not safe for concurrent use.
type Writer struct {
	f     File
	chain chain
	end   End
	// clean means that nothing follows the end.
	clean  bool
	line   []byte
	failed error // of a Sync: what the disk has is not known any more
}

// NewWriter goes on at an end that a [Reader] of the same key has given, or [Start] of a new file. Nothing is written
// before the first append.
func NewWriter(f File, key []byte, end End) *Writer {
	w := &Writer{f: f, chain: newChain(key), end: end}
	w.chain.last = end.last
	return w
}

// Append writes a record, a JSON text without line breaks. After an error the file has what it had before, and perhaps
// a part of the record, which the next append cuts off. The error matches [ErrFull] if the file has no room.
func (w *Writer) Append(json []byte) error { return w.append(json, MaxFile-reserve) }

// AppendLast is Append for the records that a full file still has room for: a few that say how all has ended.
func (w *Writer) AppendLast(json []byte) error { return w.append(json, MaxFile) }

func (w *Writer) append(json []byte, limit int64) error {
	switch {
	case w.failed != nil:
		return w.failed
	case w.chain.hash == nil:
		return errors.New("there is no key to sign records with")
	case len(json) == 0 || len(json) > MaxRecord:
		return fmt.Errorf("a record of %d bytes, 1 to %d are possible", len(json), MaxRecord)
	case bytes.IndexByte(json, '\n') >= 0:
		return errors.New("a record must not have a line break")
	}
	m := w.chain.next(json)
	w.line = appendLine(w.line[:0], m, json)
	size := int64(len(w.line))
	if w.end.Offset+size > limit {
		return fmt.Errorf("%w: a record of %d bytes behind %d, at most %d are possible", ErrFull, size, w.end.Offset,
			limit)
	}
	if err := w.cut(); err != nil {
		return err
	}
	w.clean = false
	if err := writeAt(w.f, w.line, w.end.Offset); err != nil {
		return err
	}
	w.clean = true
	w.chain.last = m
	w.end = End{Offset: w.end.Offset + size, Count: w.end.Count + 1, last: m}
	return nil
}

// cut removes the bytes after the last record. It does so once: a writer has the file for itself.
func (w *Writer) cut() error {
	if w.clean {
		return nil
	}
	if err := cutAt(w.f, w.end.Offset); err != nil {
		return err
	}
	w.clean = true
	return nil
}

// Sync makes what was appended durable. After an error nothing more can be appended: what the disk has of the
// records before is not known then, and a second Sync would not tell.
func (w *Writer) Sync() error {
	if w.failed == nil {
		if err := w.f.Sync(); err != nil {
			w.failed = fmt.Errorf("the records may be lost: %w", err)
		}
	}
	return w.failed
}

// End returns where the records end.
func (w *Writer) End() End { return w.end }

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

// cutAt removes what a file has from the offset on.
func cutAt(f File, offset int64) error {
	info, err := f.Stat()
	if err == nil && info.Size() != offset {
		err = f.Truncate(offset)
	}
	return err
}

// writeAt is WriteAt for file systems that say nothing of it when they have written less than they were given.
func writeAt(f io.WriterAt, data []byte, offset int64) error {
	n, err := f.WriteAt(data, offset)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

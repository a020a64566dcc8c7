package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// File is an open file for the writers: an afero.File that was not opened with O_APPEND.
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
	// clean means that the file has no bytes after end.
	clean  bool
	line   []byte
	failed error // of a Sync: after that, the content of the disk is unknown
}

// NewWriter continues at an end from a [Reader] with the same key, or at [Start] in a new file. It writes nothing
// before the first append.
func NewWriter(f File, key []byte, end End) *Writer {
	w := &Writer{f: f, chain: newChain(key), end: end}
	w.chain.last = end.last
	return w
}

// Append writes a record, a JSON text without line breaks. After an error the file has its previous records, and
// perhaps a part of the new one, which the next append cuts off. The error matches [ErrFull] if the file has no room.
func (w *Writer) Append(json []byte) error { return w.append(json, MaxFile-reserve) }

// AppendLast is Append for the few last records, which describe the outcome: a full file still has room for them.
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

// cut removes the bytes after the last record. It does so once, because no other process writes to the file.
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

// Sync makes the appended records durable. After an error, nothing more can be appended: the content of the disk is
// then unknown, even for older records, and a second Sync would not show it.
func (w *Writer) Sync() error {
	if w.failed == nil {
		if err := w.f.Sync(); err != nil {
			w.failed = fmt.Errorf("the records may be lost: %w", err)
		}
	}
	return w.failed
}

// End returns the end of the records.
func (w *Writer) End() End { return w.end }

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

// cutAt truncates a file at the offset.
func cutAt(f File, offset int64) error {
	info, err := f.Stat()
	if err == nil && info.Size() != offset {
		err = f.Truncate(offset)
	}
	return err
}

// writeAt is WriteAt for file systems that report no error after a short write.
func writeAt(f io.WriterAt, data []byte, offset int64) error {
	n, err := f.WriteAt(data, offset)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

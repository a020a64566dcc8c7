// Package recordlog keeps what happened in files that are only ever appended to: records that are signed and chained,
// the bytes that records name, and lines of text.
//
// A file of records is read by [NewReader] up to its last whole record that follows the one before. A [Writer]
// continues there, and cuts off the bytes after it at its first append. [Data] takes bytes of any size. A [Span] in a
// record names them, so the bytes are made durable first. [Text] takes the lines that users read; they are not signed.
//
// All of them are bounded, and take nothing but regular files, see [Open].
package recordlog

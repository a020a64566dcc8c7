// Package recordlog keeps what happened in files that are only ever appended to: records that are signed and chained,
// the bytes that records name, and lines of text.
//
// A file of records is read by [NewReader] up to its last whole record that follows the one before; a [Writer] goes on
// there, and cuts off what stands behind at its first append. [Data] takes bytes of any size. What names them is a
// [Span] in a record, so the bytes are made durable first. [Text] takes the lines that users read; they are not signed.
//
// All of them are bounded, and take nothing but regular files, see [Open].
package recordlog

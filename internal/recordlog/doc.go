// Package recordlog keeps a log in files that are only ever appended to: signed and chained records, bytes that records
// refer to, and lines of text.
//
// [NewReader] reads a file of records up to its last complete record in the chain. A [Writer] continues there, and its
// first append cuts off the bytes after it. [Data] holds bytes of any size. A [Span] in a record refers to them, so the
// bytes are made durable first. [Text] holds the lines that users read; they are not signed.
//
// All of them are bounded, and use only regular files, see [Open].
package recordlog

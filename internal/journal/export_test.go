package journal

import (
	"encoding/json"

	"github.com/millrace-go/millrace/fsutil"
)

// JSONOf is the line of a record as package json writes it.
func JSONOf(r *Record) []byte {
	data, _ := json.Marshal(toWireRecord(r)) // never fails for this type
	return data
}

// LineOf is the line of a record as it is written to a plan.
func LineOf(r *Record) []byte { return appendRecord(nil, r) }

// Scan reads a line without package json, and reports whether it could.
func Scan(line []byte) (Record, bool) { return scanRecord(line) }

// Unmarshal reads a line with package json.
func Unmarshal(line []byte) (Record, error) {
	var w wireRecord
	err := unmarshal(line, &w)
	return fromWireRecord(w), err
}

// EncodeWithin is Encode with another limit.
func EncodeWithin(p *Plan, key []byte, limit int) ([]byte, error) { return encode(p, key, limit) }

// ReadWithin is Read with another limit.
func ReadWithin(from fsutil.ReadFile, limit int64) ([]byte, error) { return read(from, limit) }

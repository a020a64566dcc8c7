package journal

import "github.com/millrace-go/millrace/internal/disk"

// LineOf returns the line of a record as it is written to a plan.
func LineOf(r *Record) []byte {
	var c coder
	c.record(r)
	return c.out
}

// Scan reads such a line.
func Scan(line []byte) (r Record, err error) {
	c := coder{reading: true, in: line}
	c.record(&r)
	return r, c.end(line)
}

// EncodeWithin is Encode with another limit.
func EncodeWithin(p *Plan, key []byte, limit int) ([]byte, error) { return encode(p, key, limit) }

// ReadWithin is Read with another limit.
func ReadWithin(d *disk.Disk, name string, limit int64) ([]byte, error) { return read(d, name, limit) }

package stage

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/millrace-go/millrace/change"
)

// otherThan returns the index of the first sum that does not match the present entries of a directory, -1 if all match.
func (c *core) otherThan(kids []kid, sums []change.Hash) (int, error) {
	byName := sumOf(kids)
	var byAll []change.Hash // computed once, when first needed
	for i, sum := range sums {
		if sum == byName {
			continue
		}
		if byAll == nil {
			var err error
			if byAll, err = c.closeSums(kids); err != nil {
				return -1, err
			}
		}
		if !slices.Contains(byAll, sum) {
			return i, nil
		}
	}
	return -1, nil
}

// sumOf returns a hash of the names in a directory and their kinds.
func sumOf(kids []kid) change.Hash {
	sum := sha256.New()
	for _, k := range kids {
		sum.Write([]byte(k.name))
		sum.Write([]byte{0, byte(k.kind)})
	}
	return change.Hash(sum.Sum(nil))
}

// factsOf returns the facts of the files and links in a directory, nil for its directories.
func (c *core) factsOf(kids []kid) ([]*fact, error) {
	facts := make([]*fact, len(kids))
	for i, k := range kids {
		if k.kind == change.Dir { // directories are listed on their own
			continue
		}
		f, err := c.factOf(k)
		if err != nil {
			return nil, err
		}
		facts[i] = c.base.keep(f) // the entry that is removed is the present entry
	}
	return facts, nil
}

// closeSumOf returns a hash that also covers the base's facts of the files and links there. An entry that moves with
// its directory was perhaps never read, so nothing else detects that another program has changed it, and the change
// would be lost.
func closeSumOf(kids []kid, facts []*fact) change.Hash {
	sum := sha256.New()
	sum.Write([]byte{0}) // no name begins with this byte: the result never equals a sum of names
	var buf []byte
	for i, k := range kids {
		buf = append(append(buf[:0], k.name...), 0, byte(k.kind))
		if f := facts[i]; f != nil {
			buf = append(append(buf, f.target...), 0)
			for _, n := range []int64{f.size, int64(f.mode), f.mtime.Unix(), int64(f.mtime.Nanosecond()), f.id.CTime,
				int64(f.id.Ino)} {
				buf = binary.AppendVarint(buf, n)
			}
		}
		sum.Write(buf)
	}
	return change.Hash(sum.Sum(nil))
}

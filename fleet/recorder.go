package fleet

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/millrace-go/millrace"
)

// recorder separates the answers of one tree from the answers of other trees, because keys do not identify the tree.
type recorder struct {
	of           millrace.Recorder
	target, base string
}

func (r recorder) key(key string) string {
	sum := sha256.Sum256([]byte(RunID("", r.target, key, r.base)))
	return hex.EncodeToString(sum[:])
}

func (r recorder) Find(key string) (millrace.Recorded, bool, error) { return r.of.Find(r.key(key)) }

func (r recorder) Keep(key string, kept millrace.Recorded) error { return r.of.Keep(r.key(key), kept) }

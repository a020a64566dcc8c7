package planfile

import (
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/preview"
)

// keptFile and keptBytes are how long the old text of one file, and those of all files of a plan, are at most to be
// stored with it, in bytes: a plan stays about as large as what it changes.
const (
	keptFile  = int64(64 << 10)
	keptBytes = int64(1 << 20)
)

// keptText returns the old text of a change to store with it, and takes its length off what is left. It is nil where it
// is too long, has nothing to show, or can no longer be read: then the change is shown as long as the file stays.
func keptText(c change.Change, left *int64) []byte {
	same := c.New.Kind == change.File && c.New.Hash == c.Old.Hash
	if c.Old.Kind != change.File || same || c.Old.Size > min(keptFile, *left) {
		return nil
	}
	text, err := preview.ReadAll(c.OpenOld, c.Old.Size)
	if err != nil || change.HashOf(text) != c.Old.Hash {
		return nil
	}
	*left -= int64(len(text))
	return text
}

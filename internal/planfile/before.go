package planfile

import (
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/preview"
)

// keptFile and keptBytes limit the old text stored with a plan, for one file and for all files, in bytes. So a plan is
// about as large as its changes.
const (
	keptFile  = int64(64 << 10)
	keptBytes = int64(1 << 20)
)

// keptText returns the old text of a change for storage with it, and subtracts its length from left. It is nil if the
// text is too long, adds nothing, or can no longer be read: then the change can only be shown as long as the file does
// not change.
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

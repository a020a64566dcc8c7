package hostile_test

import (
	"testing"

	"github.com/millrace-go/millrace/fsutil"
)

func TestHostile_001_parentDirectory(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *backend) {
		b.refuses(t, fsutil.ErrEscape, "../x", act("edit", obj{"files": []string{"../x"}, "old_text": "needle", "new_text": "pin"}))
	})
}

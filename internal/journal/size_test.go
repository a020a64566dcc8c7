package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestSize: everything that is written can be read again as a whole, and nothing is read in part.
func TestSize(t *testing.T) {
	t.Parallel()
	p := sample()
	data := encode(t, p, nil)
	if again, err := journal.EncodeWithin(p, nil, len(data)); err != nil || !bytes.Equal(again, data) {
		t.Errorf("a plan that just fits: %v", err)
	}
	tooLarge := &journal.Error{Reason: journal.TooLarge}
	if _, err := journal.EncodeWithin(p, nil, len(data)-1); !errors.Is(err, tooLarge) {
		t.Errorf("one byte too long: %v", err)
	}
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "plan", data, 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]error{int64(len(data)): nil, int64(len(data)) - 1: tooLarge} {
		got, err := journal.ReadWithin(disk.Open(fsys), "plan", limit)
		if !errors.Is(err, want) || want == nil && !bytes.Equal(got, data) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(got), err)
		}
	}
}

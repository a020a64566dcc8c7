package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/journal"
)

// TestSize: nothing is written that is not read again as a whole, and nothing is read in part.
func TestSize(t *testing.T) {
	t.Parallel()
	p := sample()
	data := encode(t, p, nil)
	if again, err := journal.EncodeWithin(p, nil, len(data)); err != nil || !bytes.Equal(again, data) {
		t.Errorf("one that just fits: %v", err)
	}
	tooLarge := &journal.Error{Reason: journal.TooLarge}
	if _, err := journal.EncodeWithin(p, nil, len(data)-1); !errors.Is(err, tooLarge) {
		t.Errorf("one byte too long: %v", err)
	}
	name := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]error{int64(len(data)): nil, int64(len(data)) - 1: tooLarge} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := journal.ReadWithin(f, limit)
		if !errors.Is(err, want) || want == nil && !bytes.Equal(got, data) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(got), err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

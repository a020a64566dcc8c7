package disk_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// TestShortWrite: a file system that writes less than it was given, and says nothing, has not written a whole file.
func TestShortWrite(t *testing.T) {
	t.Parallel()
	d := disk.Open(errorfs.Wrap(afero.NewMemMapFs(), func(op *errorfs.Op, do func() error) error {
		if op.Kind == "write" {
			op.Data = op.Data[:len(op.Data)-1]
		}
		return do()
	}))
	if err := d.Put("small", []byte("bytes"), true); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Put: %v", err)
	}
	if _, err := d.Write("large", strings.NewReader("bytes"), disk.Wanted{}, func(error) {}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Write: %v", err)
	}
}

package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// TestShortWrite: a file system that silently writes less than it was given has not written a whole file.
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

// sized is a FileInfo with another size.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// TestRead_size: the size that a file system reports for a file is only a hint.
func TestRead_size(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{-1 << 40, 0, 5, 1 << 40} {
		mem := afero.NewMemMapFs()
		must(t, afero.WriteFile(mem, "file", []byte("bytes"), 0o600))
		d := disk.Open(errorfs.Wrap(mem, func(op *errorfs.Op, do func() error) error {
			err := do()
			if op.Kind == "fstat" && err == nil {
				op.Info = sized{op.Info, size}
			}
			return err
		}))
		for most, want := range map[int64]string{100: "bytes", 3: "byt"} {
			if data, err := d.Read("file", most); err != nil || string(data) != want {
				t.Errorf("size %d: at most %d bytes: %q, %v", size, most, data, err)
			}
		}
	}
}

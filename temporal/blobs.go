package millracetemporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/afero"
)

// Blobs store data that is too large for a payload: pipelines, pages of targets, outcomes, results. Clients and workers
// of one campaign share them. They must be safe for concurrent use.
type Blobs interface {
	// Put stores the bytes and returns their address: the 64 hexadecimal digits of their SHA-256. Bytes that are already
	// stored stay.
	Put(ctx context.Context, data []byte) (ref string, err error)
	// Get returns the bytes at an address. If they are not the bytes that were stored, it returns an error.
	Get(ctx context.Context, ref string) ([]byte, error)
}

// maxBlobBytes is the size of the largest blob.
const maxBlobBytes = 64 << 20

// DirBlobs are Blobs in a directory: of a shared disk, of an object store, of memory in tests. Nothing is removed: you
// may delete the directory when no campaign that uses it is running.
type DirBlobs struct {
	// FS is the file system, Dir the directory in it, which is created when it is needed.
	FS  afero.Fs
	Dir string
}

// name returns the path of a blob.
func (d DirBlobs) name(ref string) string { return path.Join(d.Dir, ref[:2], ref) }

// Put implements [Blobs]. It writes a file next to the final path and renames it, so that a blob is complete or absent.
func (d DirBlobs) Put(_ context.Context, data []byte) (string, error) {
	if len(data) > maxBlobBytes {
		return "", fmt.Errorf("blob of %d bytes: %d are allowed", len(data), maxBlobBytes)
	}
	sum := sha256.Sum256(data)
	ref := hex.EncodeToString(sum[:])
	name := d.name(ref)
	if info, err := d.FS.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return ref, nil
	}
	if err := d.FS.MkdirAll(path.Dir(name), 0o700); err != nil {
		return "", err
	}
	f, err := afero.TempFile(d.FS, path.Dir(name), "new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.FS.Rename(f.Name(), name)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("blob %s: %w", ref, err), d.FS.Remove(f.Name()))
	}
	return ref, nil
}

// Get implements [Blobs].
func (d DirBlobs) Get(_ context.Context, ref string) ([]byte, error) {
	if !isRef(ref) {
		return nil, fmt.Errorf("blob %.80q: an address has 64 hexadecimal digits", ref)
	}
	f, err := d.FS.Open(d.name(ref))
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", ref, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBlobBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("blob %s: %w", ref, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != ref {
		return nil, fmt.Errorf("blob %s: its bytes are others: %w", ref, fs.ErrInvalid)
	}
	return data, nil
}

func isRef(ref string) bool {
	return len(ref) == 2*sha256.Size && strings.Trim(ref, "0123456789abcdef") == ""
}

// put stores a value as JSON.
func put(ctx context.Context, b Blobs, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return b.Put(ctx, data)
}

// get reads a value that was stored as JSON.
func get[T any](ctx context.Context, b Blobs, ref string) (v T, err error) {
	data, err := b.Get(ctx, ref)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("blob %s: %w", ref, err)
	}
	return v, nil
}

package fetched

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestUnpack: the files of an archive are below package, whatever its first directory is, and none are outside.
func TestUnpack(t *testing.T) {
	t.Parallel()
	pack := func(name string) []byte {
		var out bytes.Buffer
		zipped := gzip.NewWriter(&out)
		w := tar.NewWriter(zipped)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: 1, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := zipped.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	dir := t.TempDir()
	if err := unpack(pack("node/lib/a.js"), dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "package", "lib", "a.js")); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if err := unpack(pack("node/../../../a.js"), dir); err == nil {
		t.Error("an archive writes outside of the directory")
	}
	if err := unpack([]byte("x"), dir); err == nil {
		t.Error("a text is accepted as an archive")
	}
}

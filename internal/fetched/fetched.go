// Package fetched lets tests fetch real third-party code from package registries, with the clients of the registries.
//
// Each package has a version and a checksum. If a registry cannot be reached, the test is skipped; with a wrong
// checksum it fails. The clients keep fetched packages in their caches.
package fetched

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Module returns the directory of a Go module in the module cache, which must not be changed. The name is PATH@VERSION.
// sum is the sum of the module in go.sum, "" for any.
func Module(t testing.TB, name, sum string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", name)
	cmd.Dir = t.TempDir() // so that no other go.mod is used
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var got struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &got) != nil || got.Dir == "" {
		t.Skipf("NOT TESTED: the go command has no %s: %v %s", name, err, got.Error)
	}
	if sum != "" && got.Sum != sum {
		t.Fatalf("%s has the sum %s, want %s", name, got.Sum, sum)
	}
	return got.Dir
}

// Distribution returns the directory of the Go distribution, which is not recorded in a program built with -trimpath.
func Distribution(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("NOT TESTED: the go command is not installed: ", err)
	}
	return strings.TrimSpace(string(out))
}

// NPM returns a directory with the files of an npm package. The name is NAME@VERSION. integrity is the checksum in the
// registry, with "sha512-" before it.
func NPM(t testing.TB, name, integrity string) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("NOT TESTED: npm is not installed")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--prefer-offline", "--ignore-scripts", name)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		t.Skipf("NOT TESTED: npm has no %s: %v %s", name, err, out)
	}
	data, err := os.ReadFile(archives[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(data)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		t.Fatalf("%s has the sum %s, want %s", name, got, integrity)
	}
	if err := unpack(data, dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "package")
}

// unpack writes the regular files of an archive below a directory.
func unpack(data []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// Some archives have a first directory with another name than "package".
		_, rest, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || rest == "" {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		name := filepath.Join("package", filepath.FromSlash(rest))
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, text, h.FileInfo().Mode().Perm()|0o600); err != nil {
			return err
		}
	}
}

package main

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// proxy makes a module proxy of a directory, with one module, and has the go tool use it and nothing else.
func proxy(t *testing.T, s source, files map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go tool is not installed")
	}
	if runtime.GOOS == "windows" {
		t.Skip("a directory as a proxy is a URL of another form here")
	}
	dir := t.TempDir()
	base := filepath.Join(dir, s.path, "@v")
	write(t, `{"Version":"`+s.version+`"}`, base, s.version+".info")
	write(t, "module "+s.path+"\n", base, s.version+".mod")
	f, err := os.Create(filepath.Join(base, s.version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(s.path + "@" + s.version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Cleanup(func() { // it is read-only
		_ = filepath.WalkDir(cache, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(name, 0o755)
			}
			return err
		})
	})
	for name, value := range map[string]string{
		"GOPROXY": "file://" + dir, "GONOSUMDB": "*", "GONOPROXY": "", "GOPRIVATE": "", "GOMODCACHE": cache, "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
}

// A corpus is what its modules have, and not built of one whose sum is another.
func TestCorpus(t *testing.T) {
	s := source{"example.com/m", "v1.0.0", "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
	proxy(t, s, map[string]string{"go.mod": "module example.com/m\n", "a/b.go": "package a\n"})
	dir := t.TempDir()
	_, _, err := corpus(t.Context(), dir, "c", []source{s}, t.Logf)
	if err == nil || !strings.Contains(err.Error(), "not the "+s.sum) {
		t.Fatalf("the error is %v", err)
	}
	// The error has the sum: take it from there.
	_, rest, _ := strings.Cut(err.Error(), "its sum is ")
	s.sum, _, _ = strings.Cut(rest, ",")
	tree, built, err := corpus(t.Context(), dir, "c", []source{s}, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if built.Files != 2 || built.Bytes != int64(len("module example.com/m\npackage a\n")) {
		t.Errorf("it has %v", built)
	}
	data, err := os.ReadFile(filepath.Join(tree, "example.com", "m@v1.0.0", "a", "b.go"))
	if err != nil || string(data) != "package a\n" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(tree, ".git")); err != nil || !info.IsDir() {
		t.Errorf("there is no .git: %v", err)
	}
	s.path = "example.com/other"
	if _, err := s.download(t.Context()); err == nil || !strings.Contains(err.Error(), "download example.com/other") {
		t.Errorf("the error is %v", err)
	}
}

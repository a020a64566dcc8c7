package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// source is a module of the Go module proxy, with the sum that go.sum would have for it.
type source struct{ path, version, sum string }

// sources returns the modules of the corpus: much generated code, some written by hand, files of very different sizes.
func sources() []source {
	return []source{
		{"github.com/aliyun/alibaba-cloud-sdk-go", "v1.62.700", "h1:317m0immgyxLEIEA/EF52Q/KMeStWVooGmY4pPyYVW0="},
		{"github.com/oracle/oci-go-sdk/v65", "v65.75.0", "h1:tifYRSqCjxANJb0xnMSZ6N2bF2xGyqcCIMg7xihgk+s="},
		{"github.com/Azure/azure-sdk-for-go", "v68.0.0+incompatible", "h1:fcYLmCpyNYRnvJbPerq7U0hS+6+I79yEDJBqVNcqUzU="},
		{"github.com/aws/aws-sdk-go", "v1.55.5", "h1:KKUZBfBoyqy5d3swXyiC7Q76ic40rYcbqH7qjh59kzU="},
		{"k8s.io/kubernetes", "v1.31.0", "h1:sYAB12TTWexXKp4RxqJMm/7EC+P0mNOgn4Xdj5eu7HM="},
		{"google.golang.org/api", "v0.200.0", "h1:0ytfNWn101is6e9VBoct2wrGDjOi5vn7jw5KtaQgDrU="},
		{"google.golang.org/genproto", "v0.0.0-20241007155032-5fefd90f89a9", "h1:nFS3IivktIU5Mk6KQa+v6RKkHUpdQpphqGNLxqNnbEk="},
		{"github.com/microsoftgraph/msgraph-sdk-go", "v1.40.0", "h1:ohgvTqcyli9DI5Hv0H5T/ZNTT2uTHBBDFwpsBX/Y4lw="},
	}
}

// smallSources returns the modules of a small corpus, for trying the program.
func smallSources() []source {
	for _, s := range sources() {
		if s.path == "k8s.io/kubernetes" {
			return []source{s}
		}
	}
	return nil
}

// dir returns the directory of the module in a tree, as in the module cache: an upper-case letter becomes "!" and the
// lower-case letter, for file systems that ignore case.
func (s source) dir() string {
	var b strings.Builder
	for _, r := range s.path + "@" + s.version {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return filepath.FromSlash(b.String())
}

// download fetches the module with the go tool, which checks it against the checksum database, and returns its
// directory.
func (s source) download(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", s.path+"@"+s.version)
	cmd.Dir = os.TempDir() // no other go.mod takes part
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	var got struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil && runErr == nil {
		return "", err
	}
	switch {
	case got.Error != "":
		return "", fmt.Errorf("download %s: %s", s.path, got.Error)
	case runErr != nil:
		return "", fmt.Errorf("download %s: %w: %s", s.path, runErr, &stderr)
	case got.Sum != s.sum:
		return "", fmt.Errorf("download %s: its sum is %s, not the %s that the figures are for", s.path, got.Sum, s.sum)
	}
	return got.Dir, nil
}

// corpus returns the tree of the modules, in dir. A missing tree is built. An existing tree is compared with its
// manifest in the same directory.
func corpus(ctx context.Context, dir, name string, from []source, logf func(string, ...any)) (string, Digest, error) {
	tree, manifest := filepath.Join(dir, name), filepath.Join(dir, name+".json")
	data, err := os.ReadFile(manifest)
	switch {
	case err == nil:
		var want Digest
		if err := json.Unmarshal(data, &want); err != nil {
			return "", want, fmt.Errorf("%s: %w", manifest, err)
		}
		logf("checking %s", tree)
		got, err := digest(tree)
		if err == nil && got != want {
			err = fmt.Errorf("%s is not what was built: %v instead of %v; remove it and %s", tree, got, want, manifest)
		}
		return tree, want, err
	case !errors.Is(err, fs.ErrNotExist):
		return "", Digest{}, err
	}
	// Without a manifest, the files are the remains of an interrupted build.
	if err := os.RemoveAll(tree); err != nil {
		return "", Digest{}, err
	}
	for _, s := range from {
		logf("building %s: %s %s", tree, s.path, s.version)
		src, err := s.download(ctx)
		if err == nil {
			err = copyTree(src, filepath.Join(tree, s.dir()))
		}
		if err != nil {
			return "", Digest{}, err
		}
	}
	// An empty one makes ripgrep obey .gitignore files.
	if err := os.MkdirAll(filepath.Join(tree, ".git"), 0o755); err != nil {
		return "", Digest{}, err
	}
	d, err := digest(tree)
	if err != nil {
		return "", d, err
	}
	if data, err = json.Marshal(d); err != nil {
		return "", d, err
	}
	return tree, d, os.WriteFile(manifest, append(data, '\n'), 0o644)
}

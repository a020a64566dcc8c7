package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	gomodule "golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// prepare changes the modules in the clone at root, each after those that it requires.
func prepare(root, version string) error {
	sums := make(map[string]string) // the lines of go.sum, by the paths of the modules so far
	for _, dir := range released {
		if dir != "" {
			if err := release(filepath.Join(root, dir), version, sums); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
		tree, err := git(root, "write-tree")
		if err != nil {
			return err
		}
		packed, err := pack(root, tree, dir, version)
		if err != nil {
			return err
		}
		if sums[pathOf(dir)], err = packed.sum(dir, version); err != nil {
			return err
		}
		_ = os.Remove(packed.zip)
	}
	return nil
}

// release writes go.mod and go.sum of a module and adds them to the index.
func release(dir, version string, sums map[string]string) error {
	name := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(f.Replace) {
		if !ours(r.Old.Path) {
			return fmt.Errorf("go.mod replaces %s, which go install refuses", r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	used := make(map[string]string)
	for _, r := range f.Require {
		if !ours(r.Mod.Path) {
			continue
		}
		if used[r.Mod.Path] = sums[r.Mod.Path]; used[r.Mod.Path] == "" {
			return fmt.Errorf("go.mod requires %s, which is not released before it", r.Mod.Path)
		}
		if err := f.AddRequire(r.Mod.Path, version); err != nil {
			return err
		}
	}
	f.Cleanup()
	if data, err = f.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return err
	}
	if err := writeSums(filepath.Join(dir, "go.sum"), used); err != nil {
		return err
	}
	_, err = git(dir, "add", "go.mod", "go.sum")
	return err
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// writeSums puts the lines of our modules among the others.
func writeSums(name string, used map[string]string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var own strings.Builder
	for _, path := range slices.Sorted(maps.Keys(used)) {
		own.WriteString(used[path])
	}
	var out strings.Builder
	written := false
	for line := range strings.Lines(string(data)) {
		path, _, _ := strings.Cut(line, " ")
		if ours(path) {
			continue
		}
		if path > module && !written { // the lines are in the order of the paths
			out.WriteString(own.String())
			written = true
		}
		out.WriteString(line)
	}
	if !written {
		out.WriteString(own.String())
	}
	return os.WriteFile(name, []byte(out.String()), 0o644)
}

// packed is a module as the go command gets it.
type packed struct {
	zip string // a temporary file
	mod []byte
}

// pack makes the zip file of a module from a commit or a tree, as the go command does from a tag.
func pack(root, revision, dir, version string) (p packed, err error) {
	where := "go.mod"
	if dir != "" {
		where = dir + "/go.mod"
	}
	text, err := git(root, "show", revision+":"+where)
	if err != nil {
		return p, err
	}
	p.mod = []byte(text + "\n") // git cuts the end off, see git
	file, err := os.CreateTemp("", "module-*.zip")
	if err != nil {
		return p, err
	}
	p.zip = file.Name()
	err = zip.CreateFromVCS(file, gomodule.Version{Path: pathOf(dir), Version: version}, root, revision, dir)
	if end := file.Close(); err == nil {
		err = end
	}
	if err != nil {
		_ = os.Remove(p.zip)
	}
	return p, err
}

// sum returns the lines of go.sum for a module.
func (p packed) sum(dir, version string) (string, error) {
	whole, err := dirhash.HashZip(p.zip, dirhash.Hash1)
	if err != nil {
		return "", err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(p.mod)), nil
	})
	if err != nil {
		return "", err
	}
	path := pathOf(dir)
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", path, version, whole, path, version, mod), nil
}

// git returns what a command of git prints, without the last end of line.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

package rootfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestSlowRoot_conformance runs the suite without openat2, which old kernels and some sandboxes do not have.
func TestSlowRoot_conformance(t *testing.T) {
	t.Parallel()
	fstest.Run(t, func(t *testing.T) afero.Fs {
		root, err := rootfs.OpenSlowRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}, fstest.Options{})
}

// TestBeneath does the same random operations in two directories, in one of them without the fast path, and compares
// the results.
func TestBeneath(t *testing.T) {
	t.Parallel()
	probe, err := rootfs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !probe.Fast() {
		t.Skip("no openat2 here, so only one way exists")
	}
	operations := fstest.Runs(2_000, 6_000, 200_000)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var dirs [2]string
			var roots [2]*rootfs.FS
			for i, open := range []func(string) (*rootfs.FS, error){rootfs.Open, rootfs.OpenSlowRoot} {
				dirs[i] = t.TempDir()
				root, err := open(dirs[i])
				if err != nil {
					t.Fatal(err)
				}
				defer root.Close()
				roots[i] = root
			}
			random := rand.New(rand.NewPCG(seed, 7))
			worked := make(map[string]int)
			for i := range operations {
				op := randomOperation(random)
				a, b := op.do(roots[0]), op.do(roots[1])
				if strings.HasSuffix(a, "ok") {
					worked[op.name[:strings.IndexByte(op.name, '(')]]++
				}
				if a != b {
					t.Fatalf("operation %d, %s: fast %s, slow %s", i, op.name, a, b)
				}
				if i%100 == 0 {
					if a, b := listing(t, dirs[0]), listing(t, dirs[1]); a != b {
						t.Fatalf("after %d operations one directory is\n%s\nthe other\n%s", i, a, b)
					}
				}
			}
			t.Logf("%d operations, of which succeeded %v", operations, worked)
		})
	}
}

type operation struct {
	name string
	do   func(r *rootfs.FS) string
}

// randomOperation returns an operation on few names, so that it often meets the results of earlier operations,
// including links.
func randomOperation(random *rand.Rand) operation {
	name := func() string {
		parts := make([]string, 1+random.IntN(6)/4+random.IntN(6)/5)
		for i := range parts {
			parts[i] = string("abcdef"[random.IntN(6)])
		}
		if random.IntN(20) == 0 {
			return "."
		}
		return strings.Join(parts, "/") + strings.Repeat("/", random.IntN(12)/11)
	}
	n, other := name(), name()
	mode := []fs.FileMode{0o600, 0o644, 0o755, 0o700 | fs.ModeSetuid, 0o750 | fs.ModeSticky}[random.IntN(5)]
	stamp := time.Unix(int64(random.IntN(1e9)), int64(random.IntN(1e9)))
	first := stamp
	if random.IntN(4) == 0 {
		stamp = time.Time{} // no change
	}
	target := []string{"a", "b/c", "../a", "/etc", "..", "l", "../../x", "c"}[random.IntN(8)]
	told := func(err error) string {
		if err == nil {
			return "ok"
		}
		return strings.ReplaceAll(err.Error(), "openat", "open")
	}
	info := func(i fs.FileInfo, err error) string {
		if err != nil {
			return told(err)
		}
		size := i.Size()
		if i.IsDir() {
			size = 0
		}
		return fmt.Sprint(i.Name(), i.Mode(), size)
	}
	kinds := []operation{
		{"stat", func(r *rootfs.FS) string { return info(r.Stat(n)) }},
		{"lstat", func(r *rootfs.FS) string { i, _, err := r.LstatIfPossible(n); return info(i, err) }},
		{"read", func(r *rootfs.FS) string { data, err := afero.ReadFile(r, n); return string(data) + told(err) }},
		{"list", func(r *rootfs.FS) string {
			infos, err := afero.ReadDir(r, n)
			list := told(err)
			for _, i := range infos {
				list += " " + i.Name() + i.Mode().Type().String()
			}
			return list
		}},
		{"write", func(r *rootfs.FS) string { return told(afero.WriteFile(r, n, []byte(other), mode)) }},
		{"create", func(r *rootfs.FS) string {
			f, err := r.OpenFile(n, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
			if err == nil {
				err = f.Close()
			}
			return told(err)
		}},
		{"mkdir", func(r *rootfs.FS) string { return told(r.Mkdir(n, mode)) }},
		{"mkdirall", func(r *rootfs.FS) string { return told(r.MkdirAll(n, mode)) }},
		{"remove", func(r *rootfs.FS) string { return told(r.Remove(n)) }},
		{"rename", func(r *rootfs.FS) string { return told(r.Rename(n, other)) }},
		{"link", func(r *rootfs.FS) string { return told(r.Link(n, other)) }},
		{"symlink", func(r *rootfs.FS) string { return told(r.SymlinkIfPossible(target, n)) }},
		{"readlink", func(r *rootfs.FS) string { to, err := r.ReadlinkIfPossible(n); return to + told(err) }},
		{"chmod", func(r *rootfs.FS) string { return told(r.Chmod(n, mode|0o700)) }},
		{"chown", func(r *rootfs.FS) string { return told(r.Chown(n, -1, -1)) }},
		{"chtimes", func(r *rootfs.FS) string {
			err := errors.Join(r.Chtimes(n, first, first), r.Chtimes(n, first, stamp))
			if i, serr := r.Stat(n); serr == nil && err == nil {
				return fmt.Sprint(i.ModTime().UnixNano(), " ok")
			}
			return told(err)
		}},
		{"exchange", func(r *rootfs.FS) string { return told(r.Exchange(n, other)) }},
		{"noreplace", func(r *rootfs.FS) string { return told(r.RenameNoReplace(n, other)) }},
		{"opendir", func(r *rootfs.FS) string {
			d, err := r.OpenDir(n)
			if err != nil {
				return told(err)
			}
			defer d.Close()
			entries, err := d.ReadDir()
			return fmt.Sprint(len(entries), told(err))
		}},
	}
	op := kinds[random.IntN(len(kinds))]
	if random.IntN(5) == 0 {
		op = kinds[[]int{4, 6, 7, 11}[random.IntN(4)]] // so that names often exist
	}
	op.name += fmt.Sprintf("(%s, %s, %v, %s)", n, other, mode, target)
	return op
}

// listing describes everything in a directory, except times that no test has set.
func listing(t *testing.T, dir string) string {
	t.Helper()
	return fstest.Listing(t, dir, func(info fs.FileInfo) string { return info.Mode().String() })
}

package fleet_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A directory is one target under all its names, and no target is inside another.
func TestPaths(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	at := func(name string) string { return dir + "/" + name }
	fstest.Must(t, os.MkdirAll(at("a/in"), 0o755))
	fstest.Must(t, os.Mkdir(at("ab"), 0o755))
	fstest.Must(t, os.Symlink("a", at("link")))
	for what, test := range map[string]struct {
		give, want []string
		nested     bool
	}{
		"several names":       {[]string{"a", "a/", "link", "ab/../a", "ab"}, []string{"a", "ab"}, false},
		"a link first":        {[]string{"link", "a"}, []string{"link"}, false},
		"the start of a name": {[]string{"a", "ab"}, []string{"a", "ab"}, false},
		"what is missing":     {[]string{"none", "none/"}, []string{"none"}, false},
		"a tree in a tree":    {[]string{"a", "a/in"}, nil, true},
		"in a tree, first":    {[]string{"link/in", "ab", "a"}, nil, true},
	} {
		t.Run(what, func(t *testing.T) {
			var give, got []string
			for _, name := range test.give {
				give = append(give, at(name))
			}
			nested := false
			for target, err := range fleet.Paths(give...) {
				if err != nil {
					nested = errors.As(err, new(*fleet.TargetError))
					continue
				}
				rel, err := filepath.Rel(dir, target.Root)
				fstest.Must(t, err)
				got = append(got, rel)
			}
			if !slices.Equal(got, test.want) || nested != test.nested {
				t.Errorf("%q, nested %v, want %q, %v", got, nested, test.want, test.nested)
			}
		})
	}
}

//go:build linux || darwin

package stage_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/stage"
)

// TestFirstRemoval: the removal that took a file of the base decides whether the file is kept and who removed it,
// whatever happens to its name or its directory afterwards. A restored stage reports the same.
func TestFirstRemoval(t *testing.T) {
	t.Parallel()
	type op = func(s *stage.Stage) error
	remove := func(names ...string) op {
		return func(s *stage.Stage) (err error) {
			for _, name := range names {
				err = errors.Join(err, s.Remove(name))
			}
			return err
		}
	}
	discard := func(names ...string) op {
		return func(s *stage.Stage) (err error) {
			for _, name := range names {
				err = errors.Join(err, s.Discard(name))
			}
			return err
		}
	}
	rename := func(from, to string) op { return func(s *stage.Stage) error { return s.Rename(from, to) } }
	write := func(name string) op {
		return func(s *stage.Stage) error { return afero.WriteFile(s, name, []byte("new"), 0o644) }
	}
	tests := []struct {
		name string
		ops  []op // the first by step s1, the second by s2, ...
		want []string
	}{
		{"in a directory", []op{remove("d/f"), discard("d/g", "d")}, []string{
			"deleted d old=dir s2", "deleted d/f s1", "deleted d/g permanent s2",
		}},
		{"in a directory, the other way round", []op{discard("d/f"), remove("d/g", "d")}, []string{
			"deleted d old=dir s2", "deleted d/f permanent s1", "deleted d/g s2",
		}},
		{"in two directories", []op{remove("e/in/f"), discard("e/in"), remove("e")}, []string{
			"deleted e old=dir s3", "deleted e/in old=dir s2", "deleted e/in/f s1",
		}},
		{"in a directory that is made again", []op{
			remove("d/f"), discard("d/g", "d"), func(s *stage.Stage) error { return s.Mkdir("d", 0o755) }, discard("d"),
		}, []string{"deleted d old=dir s2", "deleted d/f s1", "deleted d/g permanent s2"}},
		{"in a directory that another replaces", []op{discard("d/f", "d/g"), rename("e", "d")}, []string{
			"renamed d from e old=dir new=dir over=dir s2", "deleted d/f permanent s1", "deleted d/g permanent s1",
			"renamed d/in from e/in old=dir new=dir s2", "renamed d/in/f from e/in/f s2",
		}},
		{"in a directory that moves", []op{discard("d/f"), rename("d", "z"), remove("z/g", "z")}, []string{
			"deleted d old=dir s2", "deleted d/f permanent s1", "deleted d/g s2",
		}},
		{"one name", []op{remove("a"), write("a"), discard("a")}, []string{"deleted a s1"}},
		{"one name, the other way round", []op{discard("a"), write("a"), remove("a")}, []string{"deleted a permanent s1"}},
		{"a file that another replaced", []op{rename("b", "a"), discard("a")}, []string{"deleted a s1", "deleted b s1"}},
		{"a file that came back", []op{rename("a", "z"), rename("z", "a"), discard("a")}, []string{"deleted a permanent s3"}},
		{"a directory that came back", []op{
			remove("d/f"), rename("d", "z"), rename("z", "d"), discard("d/g", "d"),
		}, []string{"deleted d old=dir s4", "deleted d/f s1", "deleted d/g permanent s4"}},
	}
	for _, tt := range tests {
		for _, often := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, often), func(t *testing.T) {
				t.Parallel()
				k := newKept(t, "a=a", "b=b", "d/f=f", "d/g=g", "e/in/f=f")
				for i, op := range tt.ops {
					k.must(op(k.For(fmt.Sprintf("s%d", i+1), false)))
					if often {
						k.keep()
						k.resume()
					}
				}
				if diff := cmp.Diff(tt.want, outline(changesOf(t, k.Stage))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				k.keep()
				k.resume()
			})
		}
	}
}

// TestFirstRemoval_sizes: a delta does not repeat all files that were removed earlier for each removed directory above
// them.
func TestFirstRemoval_sizes(t *testing.T) {
	t.Parallel()
	const files, depth = 100, 50
	dir := strings.Repeat("/directory", depth)[1:]
	var names []string
	for i := range files {
		names = append(names, fmt.Sprintf("%s/%d", dir, i))
	}
	k := newKept(t, strings.Split(strings.Join(names, "=text ")+"=text", " ")...)
	s := k.For("files", false)
	for _, name := range names {
		k.must(s.Remove(name))
	}
	k.keep()
	s = k.For("directories", false)
	for at := dir; at != "."; at = path.Dir(at) {
		k.must(s.Discard(at))
	}
	if n := len(k.keep()); n > 2*files*len(names[0]) {
		t.Errorf("the delta has %d bytes", n)
	}
	want := outline(changesOf(t, k.Stage))
	k.resume()
	if d := cmp.Diff(want, outline(changesOf(t, k.Stage))); d != "" {
		t.Errorf("restored (-want +got):\n%s", d)
	}
	if n := len(want); n != files+depth || !strings.HasSuffix(want[n-1], "/99 files") {
		t.Errorf("%d changes, the last is %s", n, want[n-1])
	}
}

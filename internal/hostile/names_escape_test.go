package hostile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

func TestHostile_a_path_into_the_parent_directory(t *testing.T) {
	t.Parallel()
	eachUse(t, "../x", func(t *testing.T, b *backend, u use) {
		b.refuses(t, names.ErrEscape, "../x", u.steps...)
	}, everyRole...)
}

// If the tree is a directory of the system, an absolute name is refused. Elsewhere it counts from the root of the tree,
// and never means a file of the machine.
func TestHostile_an_absolute_path(t *testing.T) {
	t.Parallel()
	eachUse(t, "/etc/passwd", func(t *testing.T, b *backend, u use) {
		switch {
		case b.rooted:
			b.refuses(t, names.ErrAbsolute, "/etc/passwd", u.steps...)
		case u.role == source || u.role == looked:
			b.refuses(t, fs.ErrNotExist, "etc/passwd", u.steps...)
		case u.role == base:
			b.refuses(t, nil, "a.txt", u.steps...) // a.txt is not below that base
		case u.what == "file_exists path":
			if res := b.dry(t, u.steps...); !res.Results[0].Skipped {
				t.Error("the file of the machine is seen")
			}
		case u.what == "file_not_exists path":
			if res := b.dry(t, u.steps...); res.Results[0].Skipped {
				t.Error("the file of the machine is seen")
			}
		default:
			changed := b.dry(t, u.steps...).FilesChanged
			made := changed.Created
			for _, r := range changed.Renamed {
				made = append(made, r.To)
			}
			if len(made) != 1 || !names.Within(made[0], "etc/passwd") {
				t.Errorf("made %q, want it below the root of the tree", made)
			}
		}
	}, everyRole...)
}

// A plain afero.OsFs is the working directory: absolute names are accepted if they lead into it.
func TestHostile_an_absolute_path_of_the_working_directory(t *testing.T) {
	b := newBackend(t, "os")
	b.fs = afero.NewOsFs()
	t.Chdir(b.dir)
	for _, p := range []string{"/etc/passwd", filepath.Join(b.outside.parent, "secret", "file"), filepath.Join(b.outside.parent, "root-evil", "f")} {
		for _, u := range usesIn(p, everyRole...) {
			b.refuses(t, names.ErrEscape, p, u.steps...)
		}
	}
	b.works(t, act("edit", obj{"files": []string{filepath.Join(b.dir, "a.txt")}, "old_text": "needle", "new_text": "pin"}))
	if data, err := os.ReadFile(b.path("a.txt")); err != nil || string(data) != "alpha pin\n" {
		t.Errorf("a.txt is %q, %v", data, err)
	}
	b.checkOutside(t)
}

func TestHostile_parent_behind_directory(t *testing.T) {
	t.Parallel()
	for i, p := range []string{"a/../../x", "dir/../../x", "dir/sub/../../../secret/file", "./.././x"} {
		t.Run(filepath.Base(filepath.Dir(p)), func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.refuses(t, names.ErrEscape, p, u.steps...)
			}, everyRole...)
		})
	}
}

// The name of the sibling begins with the name of the root (CVE-2025-53110). The next test has the same for an allowed
// directory.
func TestHostile_a_sibling_with_the_same_prefix(t *testing.T) {
	t.Parallel()
	eachUse(t, "../root-evil/f", func(t *testing.T, b *backend, u use) {
		b.refuses(t, names.ErrEscape, "../root-evil/f", u.steps...)
		if b.rooted {
			absolute := filepath.Join(b.outside.parent, "root-evil", "f")
			for _, again := range uses(absolute) {
				if again.what == u.what {
					b.refuses(t, names.ErrAbsolute, absolute, again.steps...)
				}
			}
		}
	}, everyRole...)
}

func TestHostile_a_sibling_with_the_prefix_of_an_allowed_path(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"dir-evil/f": "needle\n", "dirf": "needle\n"})
		x := host()
		x.AllowedPaths = []string{"dir"}
		before := b.snapshot(t)
		for _, p := range []string{"dir-evil/f", "dirf", "dir/../dir-evil/f"} {
			for _, u := range usesIn(p, source, looked, asked) {
				_, err := x.Run(t.Context(), b.fs, decoded(t, u.steps...))
				if step, ok := errors.AsType[*millrace.StepError](err); !ok || !errors.Is(err, names.ErrNotAllowed) {
					t.Errorf("%s %s: %v (%v), want ErrNotAllowed", u.what, p, err, step)
				}
			}
		}
		b.unchanged(t, before)
	})
}

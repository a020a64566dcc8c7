package hostile_test

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

// The step refuses an empty name in a list. An empty required name counts as missing, which is reported before anything
// runs. An empty optional name means its default, the whole tree.
func TestHostile_an_empty_path(t *testing.T) {
	t.Parallel()
	eachUse(t, "", func(t *testing.T, b *backend, u use) {
		switch {
		case u.role == looked || u.role == base:
			b.dry(t, u.steps...)
		case strings.Contains(u.what, " files") || strings.Contains(u.what, " paths"):
			b.refuses(t, names.ErrEmptyPath, "", u.steps...)
		default:
			invalid(t, "/steps/0/", u.steps...)
		}
	}, everyRole...)
}

func TestHostile_dot_as_file(t *testing.T) {
	t.Parallel()
	for i, p := range []string{".", "dir/..", "./", "dir"} {
		t.Run(strings.ReplaceAll(p, "/", "_"), func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				switch {
				case p == "dir" && u.what == "rename files":
					b.dry(t, u.steps...) // a directory is moved with its content
				case u.role == source:
					b.refuses(t, names.ErrIsDir, "", u.steps...)
				case u.role == looked:
					if res := b.dry(t, u.steps...); len(res.FilesAffected) == 0 {
						t.Error("a search in a directory finds nothing")
					}
				case strings.HasSuffix(u.what, " to") && strings.HasSuffix(p, "/"):
					invalid(t, "/steps/0/params/to", u.steps...)
				case strings.HasSuffix(u.what, " to"):
					b.refuses(t, fs.ErrExist, "", u.steps...)
				case p == "dir":
					b.dry(t, u.steps...)
				default:
					b.refuses(t, fs.ErrExist, "a.txt", u.steps...) // the copy would be a.txt itself
				}
			}, source, looked, target)
		})
	}
}

func TestHostile_a_nul_byte(t *testing.T) {
	t.Parallel()
	for i, p := range []string{"a\x00b", "a.txt\x00", "\x00", "dir/\x00/x"} {
		t.Run("", func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.refuses(t, names.ErrBadName, p, u.steps...)
			}, everyRole...)
		})
	}
}

func TestHostile_name_of_256_bytes(t *testing.T) {
	t.Parallel()
	for i, p := range []string{strings.Repeat("n", 256), "dir/" + strings.Repeat("ä", 128), strings.Repeat("n", 256) + "/x"} {
		t.Run("", func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				b.refuses(t, names.ErrNameTooLong, p, u.steps...)
			}, everyRole...)
		})
	}
}

// A file with the longest possible name can be changed, although the transaction makes more names for it.
func TestHostile_name_of_255_bytes(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		long := strings.Repeat("n", 255)
		b.works(t,
			act("copy", obj{"files": []string{"a.txt"}, "to": long}),
			act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "copy"}),
			act("rename", obj{"files": []string{"b.txt"}, "destination": "new", "to": long}))
		if b.commits && (b.content(t, long) != "alpha pin\n" || b.content(t, "new/"+long) != "beta needle\n") {
			t.Error("the content differs")
		}
	})
}

func TestHostile_path_over_4096_bytes(t *testing.T) {
	t.Parallel()
	p := strings.Repeat("directory/", 410) + "f"
	eachUse(t, p, func(t *testing.T, b *backend, u use) {
		b.refuses(t, names.ErrNameTooLong, p, u.steps...)
	}, everyRole...)
}

func TestHostile_six_kilobytes_of_dots(t *testing.T) {
	t.Parallel()
	dots := strings.Repeat("./", 3000)
	eachUse(t, dots+"dir/c.txt", func(t *testing.T, b *backend, u use) {
		if res := b.dry(t, u.steps...); u.role == source && !slices.Contains(res.FilesAffected, "dir/c.txt") && !strings.HasPrefix(u.what, "diff") &&
			!slices.Contains(res.FilesAffected, "made/c.txt") && u.what != "edit files, regex" {
			t.Errorf("affected %q", res.FilesAffected)
		}
	}, source, looked, asked)
	eachBackend(t, func(t *testing.T, b *backend) {
		res := b.works(t,
			act("edit", obj{"files": []string{dots + "a.txt", "a.txt"}, "old_text": "needle", "new_text": "pin"}),
			act("copy", obj{"files": []string{dots + "a.txt"}, "destination": dots + "made"}))
		if !slices.Equal(res.FilesChanged.Modified, []string{"a.txt"}) || !slices.Equal(res.FilesChanged.Created, []string{"made/a.txt"}) || res.TotalEdits != 1 {
			t.Errorf("changed %+v with %d edits", res.FilesChanged, res.TotalEdits)
		}
		if b.commits && b.content(t, "made/a.txt") != "alpha pin\n" {
			t.Error("the copy differs")
		}
	})
}

func TestHostile_slash_after_file(t *testing.T) {
	t.Parallel()
	for i, p := range []string{"b.txt/", "b.txt/.", "b.txt//"} {
		t.Run("", func(t *testing.T) {
			eachUseOf(t, backendsFor(i), p, func(t *testing.T, b *backend, u use) {
				switch {
				case u.role == source || u.role == looked:
					b.refuses(t, names.ErrNotDir, "b.txt", u.steps...)
				case u.role == asked:
					// No file has that name, and "test -e b.txt/" fails too.
					if res := b.dry(t, u.steps...); res.Results[0].Skipped != (u.what == "file_exists path") {
						t.Errorf("skipped: %t", res.Results[0].Skipped)
					}
				case strings.HasSuffix(u.what, " to") && strings.HasSuffix(p, "/"):
					invalid(t, "/steps/0/params/to", u.steps...)
				default:
					b.refuses(t, fs.ErrExist, "b.txt", u.steps...) // a collision: it is not a directory
				}
			}, source, looked, asked, target)
		})
	}
}

func TestHostile_double_slashes(t *testing.T) {
	t.Parallel()
	eachUse(t, "dir//sub///d.txt", func(t *testing.T, b *backend, u use) {
		res := b.dry(t, u.steps...)
		if u.writes && !slices.Contains(res.FilesAffected, "dir/sub/d.txt") && !slices.Contains(res.FilesAffected, "made/d.txt") && u.what != "edit files, regex" {
			t.Errorf("affected %q", res.FilesAffected)
		}
	}, source, looked, asked)
	eachBackend(t, func(t *testing.T, b *backend) {
		res := b.works(t,
			act("edit", obj{"files": []string{"dir//sub///d.txt"}, "old_text": "needle", "new_text": "pin"}),
			act("rename", obj{"files": []string{".//a.txt"}, "to": "x//y///z"}))
		if !slices.Equal(res.FilesChanged.Modified, []string{"dir/sub/d.txt"}) || len(res.FilesChanged.Renamed) != 1 || res.FilesChanged.Renamed[0].To != "x/y/z" {
			t.Errorf("changed %+v", res.FilesChanged)
		}
	})
}

// A base may have any spelling of its directory, including a leading slash where the tree is not rooted.
func TestHostile_double_slashes_in_base(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		for _, base := range []string{"dir//", "./dir/.", "dir/sub/..", "/dir"} {
			if b.rooted && base == "/dir" {
				continue // absolute paths are refused there
			}
			res := b.dry(t, act("copy", obj{"files": []string{"dir/sub/d.txt"}, "destination": "made", "base": base, "preserve_paths": true}))
			if len(res.FilesChanged.Created) != 1 || res.FilesChanged.Created[0] != "made/sub/d.txt" {
				t.Errorf("%s: made %q", base, res.FilesChanged.Created)
			}
		}
	})
}

func TestHostile_backslashes_in_a_path(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a backslash separates names here")
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		b.works(t,
			act("copy", obj{"files": []string{"a.txt"}, "to": `dir\..\..\x`}),
			act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "copy"}))
		if b.commits && (b.content(t, `dir\..\..\x`) != "alpha pin\n" || b.has("x")) {
			t.Error("the backslashes are not part of the name")
		}
	})
}

// invalid checks that the steps are refused before anything runs, with a single problem at the pointer or below it.
func invalid(t *testing.T, pointer string, steps ...obj) {
	t.Helper()
	_, err := millrace.Decode(pipeline(t, steps...))
	bad, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok || len(bad.Problems) != 1 || !strings.HasPrefix(bad.Problems[0].Pointer, pointer) {
		t.Errorf("%s\n%v, want one problem at %s", pipeline(t, steps...), err, pointer)
	}
}

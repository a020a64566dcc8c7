package hostile_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

// spoken returns steps after which {{say.aggregated_content}} is the two texts with the separator between them.
func spoken(b *backend, t *testing.T, first, separator, second string) []obj {
	t.Helper()
	b.plant(t, map[string]string{"say/1": first, "say/2": second})
	return []obj{
		act("read_ranges", obj{"files": []string{"say/1"}}, obj{"id": "one"}),
		act("read_ranges", obj{"files": []string{"say/2"}}, obj{"id": "two"}),
		act("aggregate", obj{"separator": separator}, obj{"id": "say", "input_from_all": []string{"one", "two"}}),
	}
}

func TestHostile_template_expands_to_escape(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, first, separator, second string
		want                           error
	}{
		{"parent", "..", "/", "secret/file", names.ErrEscape},
		{"nul", "a.txt", "\x00", "x", names.ErrBadName},
		{"long", strings.Repeat("n", 200), "", strings.Repeat("n", 56), names.ErrNameTooLong},
		{"reserved", ".millrace", "/", "lock", names.ErrReserved},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachBackend(t, func(t *testing.T, b *backend) {
				say := spoken(b, t, test.first, test.separator, test.second)
				roles := []role{source, looked, target, asked, base}
				if test.want == names.ErrReserved {
					roles = roles[:3] // reserved names may be a base
				}
				for _, u := range usesIn("{{say.aggregated_content}}", roles...) {
					b.refuses(t, test.want, "", slices.Concat(say, u.steps)...)
				}
			})
		})
	}
}

func TestHostile_destination_is_file_or_parent(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		for _, action := range []string{"copy", "rename"} {
			for _, test := range []struct {
				params obj
				want   error
				path   string
			}{
				{obj{"destination": "b.txt"}, fs.ErrExist, "b.txt"},
				{obj{"destination": "b.txt", "preserve_paths": true, "base": "."}, fs.ErrExist, "b.txt"},
				{obj{"destination": "b.txt/x"}, fs.ErrExist, "b.txt"},
				{obj{"to": "b.txt"}, fs.ErrExist, "b.txt"},
				{obj{"to": "dir", "overwrite": true}, fs.ErrExist, "dir"},
				{obj{"destination": "b.txt", "overwrite": true}, fs.ErrExist, "b.txt"},
				{obj{"destination": "dir/.."}, fs.ErrExist, "a.txt"}, // a.txt exists
				{obj{"destination": "dir/../.."}, names.ErrEscape, "dir/../.."},
				{obj{"destination": ".."}, names.ErrEscape, ".."},
				{obj{"to": ".."}, names.ErrEscape, ".."},
				{obj{"to": "dir/.."}, fs.ErrExist, "."},
				{obj{"destination": "dir", "to": ".."}, nil, "dir/.."},
				{obj{"destination": "dir", "to": "../x"}, nil, "dir/../x"},
				{obj{"destination": "dir", "to": "../../x"}, names.ErrEscape, "dir/../../x"},
				{obj{"to": "{{dir}}/../{{name}}"}, names.ErrEscape, "a.txt"},
			} {
				test.params["files"] = []string{"a.txt"}
				b.refuses(t, test.want, test.path, act(action, test.params))
			}
		}
	})
}

func TestHostile_glob_with_parents(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		for _, glob := range []string{"**/../..", "../**", "**/../../secret/*", "dir/../../**", "../secret/file", "**/..", "{..,dir}/**", "/**", "[.][.]/**", "**"} {
			for _, params := range []obj{{"include": []string{glob}}, {"exclude": []string{glob}}, {"include": []string{glob}, "path": "dir", "no_ignore": true}} {
				params["pattern"] = "needle"
				p, err := millrace.Decode(pipeline(t, act("search", params)))
				if bad, ok := errors.AsType[*millrace.ValidationError](err); ok && strings.HasPrefix(glob, "/") {
					if !strings.HasPrefix(bad.Problems[0].Pointer, "/steps/0/params/") {
						t.Error(bad)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				res, err := host().Run(t.Context(), b.fs, p)
				checkSilent(t, res, err)
				if err != nil {
					t.Errorf("%s: %v", glob, err)
					continue
				}
				for _, f := range res.FilesAffected {
					if planted[f] == "" {
						t.Errorf("%s finds %q", glob, f)
					}
				}
			}
		}
	})
}

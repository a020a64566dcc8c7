package actions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// TestPatchTabs: the patch may have blanks for tabs of the file, with the same number of blanks in all lines. Added
// lines get the indentation of the file, or the patch is refused.
func TestPatchTabs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, search, replace, want string }{
		"blanks for tabs":     {"a\n\tif x {\n\t\ty()\n\t}\n", "    if x {\n        y()\n    }\n", "    if x {\n        z()\n    }\n", "a\n\tif x {\n\t\tz()\n\t}\n"},
		"two blanks":          {"\tif x {\n\t\ty()\n", "  if x {\n    y()\n", "  if x {\n    z()\n      w()\n", "\tif x {\n\t\tz()\n\t\t\tw()\n"},
		"tabs for blanks":     {"  if x {\n    y()\n", "\tif x {\n\t\ty()\n", "\tif x {\n\t\tz()\n", "  if x {\n    z()\n"},
		"deeper, and blanks":  {"\t\tif x {\n\t\t\ty()\n", "    if x {\n        y()\n", "    if x {\n        z()\n", "\t\tif x {\n\t\t\tz()\n"},
		"one line":            {"\tx()\n", "    x()\n", "    y()\n        z()\n", "\ty()\n\t\tz()\n"},
		"alignment":           {"\tf(a,\n\t  b)\n", "    f(a,\n      b)\n", "    f(a,\n      c)\n", "\tf(a,\n\t  c)\n"},
		"several numbers fit": {"\t\tx()\n", "    x()\n", "    y()\n  z()\n", "\t\ty()\n\tz()\n"},
		"no number fits":      {"\tx()\n\t\ty()\n", "   x()\n    y()\n", "z\n", ""},
		"another line":        {"\tx()\n", "    y()\n", "    z()\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			if err := afero.WriteFile(fsys, "f", []byte(test.file), 0o644); err != nil {
				t.Fatal(err)
			}
			stage := fsutil.NewStage(fsys)
			text := "f\n<<<<<<< SEARCH\n" + test.search + "=======\n" + test.replace + ">>>>>>> REPLACE\n"
			_, err := (actions.Patch{Text: text}).Run(context.Background(), &actions.Call{FS: stage})
			if test.want == "" {
				if err == nil || !strings.Contains(err.Error(), "not in the file") {
					t.Errorf("the error is %v", err)
				}
				return
			}
			got, readErr := afero.ReadFile(stage, "f")
			if err != nil || readErr != nil || string(got) != test.want {
				t.Errorf("%q, %v, %v; want %q", got, err, readErr, test.want)
			}
		})
	}
}

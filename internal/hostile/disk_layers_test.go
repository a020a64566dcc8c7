//go:build linux

package hostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestHostile_a_lower_layer_shows_through removes and renames files of an afero.CopyOnWriteFs that are in both layers,
// so that the files of the lower layer reappear. No run reports that they are gone, and no run leaves the older bytes
// there.
func TestHostile_a_lower_layer_shows_through(t *testing.T) {
	t.Parallel()
	for name, upper := range map[string]func() afero.Fs{
		"memory": afero.NewMemMapFs,
		"disk":   func() afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) },
	} {
		for what, do := range map[string]func(*stage.Stage) error{"delete": drop("b"), "rename": move("b", "c")} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				plantDir(t, dir, "a=lower a", "b=lower b")
				fsys := afero.NewCopyOnWriteFs(afero.NewBasePathFs(afero.NewOsFs(), dir), upper())
				edited, err := host().Run(t.Context(), fsys, altering(put("b", "upper b")))
				must(t, err)
				_, err = host().Run(t.Context(), fsys, altering(put("a", "upper a"), do, put("n", "new")))
				failed := failedAs(t, err, millrace.CommitRolledBack, capability.ErrShowsThrough)
				if text := failed.Error(); !strings.Contains(text, "CopyOnWriteFs:b: ") {
					t.Errorf("the error does not name the file system, or the file: %s", text)
				}
				holds := func(want map[string]string) {
					t.Helper()
					for name, content := range want {
						switch data, err := afero.ReadFile(fsys, name); {
						case content == "" && err == nil, content != "" && string(data) != content:
							t.Errorf("%s is %q, %v; want %q", name, data, err, content)
						}
					}
				}
				holds(map[string]string{"a": "lower a", "b": "upper b", "c": "", "n": ""})
				_, err = host().Restore(t.Context(), fsys, edited.BackupID)
				must(t, err)
				holds(map[string]string{"b": "lower b"})
				if data, err := os.ReadFile(filepath.Join(dir, "b")); string(data) != "lower b" {
					t.Errorf("the lower layer has %q, %v", data, err)
				}
			})
		}
	}
}

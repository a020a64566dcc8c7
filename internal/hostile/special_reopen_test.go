package hostile_test

import (
	"testing"

	"github.com/spf13/afero"
)

// reopened returns a backend for an existing directory.
func reopened(t *testing.T, name, dir string) afero.Fs {
	t.Helper()
	switch name {
	case "root":
		return openRoot(t, dir)
	case "os":
		return afero.NewBasePathFs(afero.NewOsFs(), dir)
	case "plain":
		return plain(afero.NewBasePathFs(afero.NewOsFs(), dir))
	}
	t.Fatalf("no backend %q of a directory", name)
	return nil
}

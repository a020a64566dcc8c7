package fsutil_test

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

func TestStage_Version(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	if err := afero.WriteFile(base, "a", []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := fsutil.NewStage(base)
	defer s.Close()
	version := func() fsutil.Version {
		v, err := s.Version("a")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before, here := version(), s.Savepoint()
	if err := s.Chmod("a", 0o755); err != nil {
		t.Fatal(err)
	}
	if version() == before {
		t.Error("another mode, and the same version")
	}
	s.Rollback(here)
	if version() != before {
		t.Error("all is as it was, and the version is another one")
	}
}

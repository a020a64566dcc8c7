package stage_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

func TestStageKeepsThePOSIXRules(t *testing.T) {
	t.Parallel()
	bases := map[string]func(t *testing.T) afero.Fs{
		"memory":    func(*testing.T) afero.Fs { return afero.NewMemMapFs() },
		"directory": func(t *testing.T) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) },
		"root": func(t *testing.T) afero.Fs {
			root, err := rootfs.Open(t.TempDir())
			fstest.Must(t, err)
			t.Cleanup(func() { fstest.Must(t, root.Close()) })
			return root
		},
		"stage": func(*testing.T) afero.Fs { return stage.New(afero.NewMemMapFs()) },
	}
	for name, newBase := range bases {
		options := fstest.Options{Skip: map[string]string{
			"link/to nothing, with create": "a stage makes no files through links, see TestHostileLinks",
		}}
		if name == "memory" || name == "stage" {
			options.Skip["name/absolute"] = "the base takes a slash at the beginning for the root of the tree"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := newBase(t) // one for all: it is never written to
			fstest.Run(t, func(*testing.T) afero.Fs { return stage.New(base) }, options)
		})
		// A base with the names that the suite uses, all of them removed on the stage: whiteouts everywhere.
		t.Run(name+" emptied", func(t *testing.T) {
			t.Parallel()
			base := newBase(t)
			names := populate(t, base)
			fstest.Run(t, func(t *testing.T) afero.Fs {
				s := stage.New(base)
				for _, name := range names {
					fstest.Must(t, s.RemoveAll(name))
				}
				return s
			}, options)
		})
	}
}

// populate fills a base and returns the names at its top.
func populate(t *testing.T, base afero.Fs) []string {
	dirs := strings.Fields("d dir a sub x src old from link")
	for _, dir := range dirs {
		fstest.Must(t, base.MkdirAll(dir+"/sub/a", 0o755))
		for _, name := range strings.Fields("f file x sub/f sub/a/f") {
			fstest.Must(t, afero.WriteFile(base, dir+"/"+name, []byte("of the base"), 0o644))
		}
	}
	files := strings.Fields("f file b c g l new to dst target loop other")
	for _, name := range files {
		fstest.Must(t, afero.WriteFile(base, name, []byte("of the base"), 0o600))
	}
	return append(dirs, files...)
}

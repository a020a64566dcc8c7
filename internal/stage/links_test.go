//go:build unix

package stage_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// hostileTree returns a base with links that lead out of it, loop or dangle, next to a directory with a secret.
func hostileTree(t *testing.T) afero.Fs {
	t.Helper()
	top := t.TempDir()
	root := filepath.Join(top, "root")
	fstest.Must(t, os.MkdirAll(filepath.Join(root, "dir/sub"), 0o755))
	fstest.Must(t, os.MkdirAll(filepath.Join(root, "ok"), 0o755))
	fstest.Must(t, os.Mkdir(filepath.Join(top, "outside"), 0o755))
	fstest.Must(t, os.WriteFile(filepath.Join(top, "outside/secret"), []byte("secret"), 0o644))
	fstest.Must(t, os.WriteFile(filepath.Join(root, "dir/file"), []byte("file"), 0o644))
	fstest.Must(t, os.WriteFile(filepath.Join(root, "ok/file"), []byte("file"), 0o644))
	links := map[string]string{
		"out": "../outside/secret", "outdir": "../outside", "abs": filepath.Join(root, "dir/file"), "proc": "/proc/self/root",
		"self": "self", "ping": "pong", "pong": "ping", "in": "dir/file", "indir": "dir", "dir/sub/up": "../..",
		"dangling": "nowhere", "danglingout": "../nowhere", "back": "../root/dir/file", "dir/loop": "..", "slash": "dir/file/", "through": "dir/file/x",
	}
	for i := range 45 {
		links[fmt.Sprintf("chain%d", i+1)] = fmt.Sprintf("chain%d", i)
	}
	links["chain0"] = "dir/file"
	for name, target := range links {
		fstest.Must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	fstest.Must(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	fstest.Must(t, syscall.Mkfifo(filepath.Join(root, "dir/sub/fifo"), 0o644))
	return afero.NewBasePathFs(afero.NewOsFs(), root)
}

// onLink contains the attempts that act on a link itself, and not on its target.
var onLink = map[string]bool{
	"lstat": true, "remove": true, "removeall": true, "discard": true, "rename from": true, "rename to": true, "symlink": true,
}

func TestHostileLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want error
	}{
		{"out", names.ErrEscape},
		{"outdir", names.ErrEscape},
		{"abs", names.ErrEscape},
		{"proc", names.ErrEscape},
		{"back", names.ErrEscape},
		{"danglingout", names.ErrEscape},
		{"self", names.ErrLinkLoop},
		{"ping", names.ErrLinkLoop},
		{"chain41", names.ErrLinkLoop},
		{"dangling", fs.ErrNotExist},
		{"through", names.ErrNotDir},
		{"slash", names.ErrNotDir},
	}
	base := hostileTree(t) // one for all, because a stage never writes to it
	for _, tt := range tests {
		for _, a := range attempts {
			t.Run(tt.path+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				s := stage.New(base)
				err := a.do(s, tt.path)
				switch {
				case a.name == "symlink":
					if !errors.Is(err, fs.ErrExist) {
						t.Errorf("error = %v, want ErrExist", err)
					}
				case onLink[a.name]:
					if err != nil {
						t.Errorf("acting on the link itself: %v", err)
					}
				case !errors.Is(err, tt.want):
					t.Errorf("error = %v, want %v", err, tt.want)
				}
			})
		}
	}
	for _, name := range []string{"outdir/", "outdir/secret", "dir/sub/up/../outside/secret", "dir/sub/up/outdir/secret",
		"proc/etc"} {
		s := stage.New(base)
		if _, err := s.Stat(name); !errors.Is(err, names.ErrEscape) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error = %v", name, err)
		}
		if err := afero.WriteFile(s, name, nil, 0o644); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestLinksInside(t *testing.T) {
	t.Parallel()
	base := hostileTree(t)
	for name, want := range map[string]string{
		"in": "dir/file", "indir/file": "dir/file", "dir/sub/up/in": "dir/file", "dir/loop/dir/loop/indir/file": "dir/file",
		"chain39": "dir/file", "dir/sub/up": ".", "indir/new": "dir/new", "dangling": "nowhere",
	} {
		s := stage.New(base)
		got, err := s.Resolve(name)
		if err != nil || got != want {
			t.Errorf("%s leads to %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestEditThroughLink(t *testing.T) {
	t.Parallel()
	s := stage.New(hostileTree(t))
	fstest.Must(t, s.Edit("in", []change.Splice{cut(0, 0, "one ")}))
	fstest.Must(t, s.Edit("indir/file", []change.Splice{cut(0, 0, "two ")}))
	changes := changesOf(t, s)
	if len(changes) != 1 || changes[0].Path != "dir/file" || changes[0].New.Hash != change.HashOf([]byte("two one file")) {
		t.Errorf("changes: %v", changes)
	}
	if target, err := s.ReadlinkIfPossible("in"); err != nil || target != "dir/file" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	fstest.Must(t, s.Copy("in", "copy"))
	if info, _, err := s.LstatIfPossible("copy"); err != nil || !info.Mode().IsRegular() {
		t.Errorf("copied a link: %v, %v", info, err)
	}
	for _, name := range []string{"dangling", "self", "out", "in", "copy"} {
		if err := s.Copy("dir/file", name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("copy to %s: %v, want ErrExist", name, err)
		}
	}
}

func TestGuardAppliesToWhatLinksLeadTo(t *testing.T) {
	t.Parallel()
	s := stage.New(fstest.Plant(t, ".git/config", ".millrace/lock", "ok/file", "other/file"))
	for link, target := range map[string]string{"git": ".git", "state": ".millrace", "ok/other": "../other",
		"other/ok": "../ok"} {
		fstest.Must(t, s.SymlinkIfPossible(target, link))
	}
	s.SetGuard(guard.Policy{Reserved: ".millrace", Allowed: []string{".git", "git", "state", "ok"}})
	if err := afero.WriteFile(s, "git/config", nil, 0o644); !errors.Is(err, names.ErrProtected) {
		t.Errorf("error = %v, want ErrProtected", err)
	}
	if _, err := s.ReadFile("state/lock"); !errors.Is(err, names.ErrReserved) {
		t.Errorf("error = %v, want ErrReserved", err)
	}
	if _, err := s.ReadFile("ok/other/file"); !errors.Is(err, names.ErrNotAllowed) {
		t.Errorf("error = %v, want ErrNotAllowed", err)
	}
	if _, err := s.ReadFile("other/ok/file"); err != nil {
		t.Errorf("error = %v: its target is allowed", err)
	}
}

func TestPipesAreNeverOpened(t *testing.T) {
	t.Parallel()
	base := hostileTree(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"fifo", "dir/sub/fifo"} {
			for _, a := range attempts {
				s := stage.New(base)
				err := a.do(s, name)
				isLook := a.name == "stat" || a.name == "lstat"
				if isLook && err != nil || !isLook && !errors.Is(err, names.ErrNotRegular) && !errors.Is(err, names.ErrNotDir) &&
					!errors.Is(err, fs.ErrExist) {
					t.Errorf("%s %s: %v", a.name, name, err)
				}
			}
		}
		s := stage.New(base)
		if err := s.RemoveAll("dir"); !errors.Is(err, names.ErrNotRegular) {
			t.Errorf("error = %v, want ErrNotRegular", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("something waits for the other end of a pipe")
	}
}

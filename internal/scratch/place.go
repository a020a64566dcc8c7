package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// treeName returns the name of the directory with the tree.
func treeName(name string) string {
	name = filepath.Base(name)
	folded := names.FoldName(name)
	for _, own := range [...]string{tempName, homeName, sharedName, nextName, lockName, manifestName,
		manifestName + newSuffix, ""} {
		if folded == own {
			return "tree"
		}
	}
	if strings.ContainsAny(name, `/\`) || !names.IsPlain(name) || names.CheckPortable(name) != nil ||
		names.IsVCS(name, true) ||
		len(name) > names.MaxName {
		return "tree"
	}
	return name
}

// baseDir returns the directory from the host, without symbolic links, and makes it if needed.
func baseDir(dir string) (string, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no place for scratch trees: %w", err)
		}
		dir = cache
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory for scratch trees has to be an absolute name: %q", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	const others, sticky = 0o022, fs.ModeSticky
	if runtime.GOOS != "windows" && info.Mode()&others != 0 && info.Mode()&sticky == 0 {
		return "", fmt.Errorf("%s: other users can replace what is in it, so it is not a place for scratch trees", dir)
	}
	return dir, nil
}

// ownDir opens a directory that belongs to this user alone, and makes it if it is missing. In a directory such as /tmp,
// another user may have made a directory or a link of that name.
func ownDir(above *os.Root, at, name string) (*os.Root, error) {
	err := above.Mkdir(name, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	at = filepath.Join(at, name)
	refuse := func(why string) (*os.Root, error) {
		return nil, fmt.Errorf("%s %s: remove it, or name another directory for scratch trees", at, why)
	}
	info, err := above.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return refuse("is not a directory")
	case !isOurs(info):
		return refuse("belongs to another user")
	case runtime.GOOS != "windows" && info.Mode()&0o022 != 0:
		return refuse("can be written to by other users")
	case runtime.GOOS != "windows" && info.Mode().Perm() != 0o700:
		if err := above.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		_, err = refuse("was replaced while it was opened")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// take locks the place for this tree. The error matches capability.ErrLocked if another tree has the place.
func (t *tree) take(ctx context.Context, name string) (err error) {
	for range 10 { // a tree that is just being closed removes its files
		if err = t.takeOnce(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, names.ErrDrift) {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := t.furnish(ctx); err != nil {
		return errors.Join(err, t.give())
	}
	return nil
}

func (t *tree) takeOnce(name string) error {
	root, err := ownDir(t.above, filepath.Dir(t.place), name)
	if err != nil {
		return err
	}
	defer root.Close()
	want, err := root.Stat(".")
	if err != nil {
		return err
	}
	if t.slot, err = rootfs.Open(t.place); err != nil {
		return err
	}
	got, err := t.slot.Stat(".")
	if err == nil && !os.SameFile(want, got) {
		err = fmt.Errorf("%s: %w", t.place, names.ErrDrift)
	}
	if err == nil {
		t.lock, err = lockFile(t.slot, lockName)
	}
	if err != nil {
		return errors.Join(err, t.slot.Close())
	}
	return nil
}

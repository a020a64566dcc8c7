package gittrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
)

// dir returns the directory of a target. A missing clone is made.
func (t Trees) dir(ctx context.Context, target fleet.Target) (string, error) {
	dir, err := t.Dir(target)
	address, clone := target.Labels[urlLabel]
	if err != nil || !clone {
		return dir, err
	}
	if err := checkURL(address); err != nil {
		return "", err
	}
	if target.Root != cloneName(address) {
		return "", refused(target, "the root does not belong to the address")
	}
	if err := os.MkdirAll(t.CloneTo, 0o777); err != nil {
		return "", err
	}
	return dir, t.clone(ctx, address, dir)
}

// clone clones an address into a directory, unless it is there. The clone gets its name when it is whole.
func (t Trees) clone(ctx context.Context, address, dir string) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	root, err := fsutil.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	lock := "." + filepath.Base(dir) + ".lock"
	f, err := root.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	held, err := root.LockFile(ctx, lock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if _, err := os.Lstat(dir); err == nil {
		return nil // another process has made it
	}
	part := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".part")
	if err := os.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}
	if err := os.Mkdir(part, 0o777); err != nil {
		return err
	}
	args := []string{"clone", "--quiet", "--template=", "--no-recurse-submodules", "--filter=blob:none"}
	if t.Depth > 0 {
		args = append(args, "--depth", strconv.Itoa(t.Depth))
	}
	r := repository{t: t, dir: part}
	if _, err := r.run(ctx, "", append(args, "--", address, part)...); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", withoutPassword(address), err), os.RemoveAll(part))
	}
	return os.Rename(part, dir)
}

// stillOf returns an error unless a clone is of the address of its target.
func (o *opened) stillOf(ctx context.Context) error {
	address := o.target.Labels[urlLabel]
	if address == "" {
		return nil
	}
	out, err := o.run(ctx, "", "config", "--local", "--get", "remote.origin.url")
	if err != nil {
		return err
	}
	if got := strings.TrimSuffix(out, "\n"); got != address {
		return refused(o.target, "the clone '%s' is of another address", o.dir)
	}
	return nil
}

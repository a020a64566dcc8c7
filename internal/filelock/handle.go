// Package filelock locks files against other processes, and within this process. It uses a lock that the operating
// system releases when the process dies. If that lock is missing, or not every program can see it, a mark in the file
// system names the owner.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/poll"
)

// ErrNoHandle: a file system has no handles of the operating system.
var ErrNoHandle = fmt.Errorf("no handle: %w", errors.ErrUnsupported)

// handled is an open file of the operating system.
type handled interface {
	afero.File
	Fd() uintptr
}

// handleOf returns the operating system's file for an opened file, and the file system's information about the name.
func handleOf(fsys afero.Fs, name string, f afero.File) (handled, fs.FileInfo, error) {
	switch f := f.(type) {
	case handled:
		info, err := fsys.Stat(name)
		return f, info, err
	case *afero.BasePathFile:
		return handleOf(fsys, name, f.File)
	}
	return nil, nil, ErrNoHandle
}

// FileID identifies a file of the operating system on this machine.
func FileID(dev, ino uint64) string { return fmt.Sprintf("%d:%d", dev, ino) }

// HeldBy returns the error for a lock held by another process.
func HeldBy(what, holder string) error {
	return fmt.Errorf("%w: %s is held by %s", capability.ErrLocked, what, holder)
}

// Handle locks the file that open opens, by its handle, and waits while another process has the lock. When ctx is done,
// the error is [capability.ErrLocked]. id identifies the locked file. The error is ErrNoHandle for a file system
// without handles, and matches [errors.ErrUnsupported] if the file cannot be locked.
func Handle(
	ctx context.Context, fsys afero.Fs, name string, open func(name string) (afero.File, error),
) (unlock func() error, id string, err error) {
	f, err := open(name)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if unlock == nil {
			f.Close()
		}
	}()
	h, info, err := handleOf(fsys, name, f)
	if err == nil {
		id, err = handleID(h, info)
	}
	if err != nil {
		return nil, "", err
	}
	err = poll.Lock(ctx, func() error {
		err := tryHandle(h)
		if errors.Is(err, capability.ErrLocked) {
			err = HeldBy(name, Holder(id))
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	// A child process that is being started may keep the handle a little longer.
	return func() error { return errors.Join(unlockHandle(h), f.Close()) }, id, nil
}

// Identity returns the identity of an open file or directory on this machine, by its handle. The error is ErrNoHandle
// if the file system has no handles.
func Identity(fsys afero.Fs, name string, f afero.File) (capability.Identity, error) {
	h, info, err := handleOf(fsys, name, f)
	if err != nil {
		return capability.Identity{}, err
	}
	return handleIdentity(h, info)
}

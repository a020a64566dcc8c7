package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

var _ FastPather = (*FS)(nil)

// FastPath implements [FastPather]. It needs openat2(2).
func (r *FS) FastPath() FastPath {
	if r.root.conn == nil {
		return nil
	}
	return &fastPath{r: r, held: make(map[string]int), handles: sync.OnceValue(mostHandles)}
}

// mostHandles is how many files the process may have open.
func mostHandles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

// fastPath names everything by the directory it is in. Names that are not for it, because a symbolic link leads there
// or the kernel does not take them, are left to the RootFs.
type fastPath struct {
	r    *FS
	held map[string]int // handles of directories by name

	handles func() int // how many the process may have

	// Ways that turned out not to exist here are not tried for each file.
	noUnnamed, noEmptyPath atomic.Bool
}

const mostHeld = 256 // directories

func (p *fastPath) MostOpen() int { return max(1, p.handles()/8) }

func (p *fastPath) Hold(dir string) {
	if _, twice := p.held[dir]; twice || len(p.held) >= min(mostHeld, p.handles()/8-8) {
		return
	}
	if fd, err := p.r.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
		p.held[dir] = fd
	}
}

func (p *fastPath) Close() error {
	var errs []error
	for _, fd := range p.held {
		errs = append(errs, unix.Close(fd))
	}
	clear(p.held)
	return errors.Join(errs...)
}

// parent returns a handle of the directory that the name is in. Give it to release afterwards.
func (p *fastPath) parent(name string) (fd int, own bool, err error) {
	dir := path.Dir(name)
	if fd, ok := p.held[dir]; ok {
		return fd, false, nil
	}
	fd, err = p.r.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	return fd, err == nil, err
}

func release(fd int, own bool) {
	if own {
		_ = unix.Close(fd) // nothing was written through it
	}
}

// two calls do with the directories of two names.
func (p *fastPath) two(a, b string, do func(aDir, bDir int) error) error {
	aDir, ownA, err := p.parent(a)
	if err != nil {
		return err
	}
	defer release(aDir, ownA)
	bDir, ownB, err := p.parent(b)
	if err != nil {
		return err
	}
	defer release(bDir, ownB)
	return retry(func() error { return do(aDir, bDir) })
}

func (p *fastPath) Link(oldname, newname string) error {
	err := p.two(oldname, newname, func(a, b int) error {
		return unix.Linkat(a, path.Base(oldname), b, path.Base(newname), 0)
	})
	if err == nil {
		return nil
	}
	return p.r.Link(oldname, newname) // which says what is wrong with it
}

func (p *fastPath) Exchange(a, b string) error {
	err := p.two(a, b, func(aDir, bDir int) error { return renameExchange(aDir, path.Base(a), bDir, path.Base(b)) })
	if err == nil {
		return nil
	}
	return p.r.Exchange(a, b)
}

func (p *fastPath) Remove(name string) error {
	fd, own, err := p.parent(name)
	if err == nil {
		err = retry(func() error { return unix.Unlinkat(fd, path.Base(name), 0) })
		release(fd, own)
	}
	if err == nil {
		return nil
	}
	return p.r.Remove(name)
}

func (p *fastPath) Look(name string) (change.State, error) {
	var stat unix.Stat_t
	err := p.stat(name, &stat)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return change.State{}, nil
	case err != nil || stat.Mode&unix.S_IFMT == unix.S_IFLNK:
		return p.r.look(name)
	}
	return stateOf(&stat), nil
}

// stat is lstat(2).
func (p *fastPath) stat(name string, stat *unix.Stat_t) error {
	if fd, ok := p.held[path.Dir(name)]; ok {
		return retry(func() error { return unix.Fstatat(fd, path.Base(name), stat, unix.AT_SYMLINK_NOFOLLOW) })
	}
	fd, err := p.r.root.open(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	err = retry(func() error { return unix.Fstat(fd, stat) })
	release(fd, true)
	return err
}

// look is Look by the ordinary methods.
func (r *FS) look(name string) (change.State, error) {
	info, _, err := r.LstatIfPossible(name)
	if err == nil {
		s := stateOfInfo(r, info)
		if s.Kind == change.Symlink {
			s.Target, err = r.ReadlinkIfPossible(name)
			s.Target = filepath.ToSlash(s.Target)
		}
		if err == nil {
			return s, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) {
		return change.State{}, nil
	}
	return change.State{}, err
}

func stateOfInfo(r *FS, info fs.FileInfo) change.State {
	s := change.State{Kind: modes.KindOf(info.Mode()), Mode: info.Mode() & modes.PermBits, ModTime: info.ModTime()}
	if s.Kind == change.File {
		s.Size = info.Size()
	}
	s.ID, _ = r.IdentityOf(info)
	return s
}

func stateOf(stat *unix.Stat_t) change.State {
	info := rootInfo{stat: sysStat(stat)}
	return stateOfInfo(nil, &info)
}

func (p *fastPath) OpenRegular(name string) (capability.ReadFile, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | openNoWait
	fd, err := p.r.root.open(name, flags, 0)
	if err == errSlow {
		err = p.onlyLinks(name)
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	file := &rootReader{name: name, fd: fd}
	if err := file.check(); err != nil {
		return nil, names.PathError("open", name, err)
	}
	return file, nil
}

// onlyLinks says why a name is not for the fast path: there is no regular file, or a link on the way to it.
func (p *fastPath) onlyLinks(name string) error {
	info, err := p.r.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return names.ErrNotRegular
	}
	if err == nil {
		err = errors.ErrUnsupported
	}
	return err
}

func (p *fastPath) SyncDir(name string) error {
	fd, err := p.r.root.open(name, openDirFlags, 0)
	if err == nil {
		err = retry(func() error { return unix.Fsync(fd) })
		release(fd, true)
		err = names.UnsupportedIf(names.FromOS(err), syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS)
	} else if err == errSlow {
		err = errors.ErrUnsupported
	}
	return names.PathError("sync", name, err)
}

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// systemTrees are directories that programs need to run. A system may lack some of them.
var systemTrees = []string{
	"/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/sbin", "/sys", "/usr",
}

// devices can be read and written by everybody without harm. All others stay closed: the disk of the tree is a device
// as well. A command has no terminal, but opening /dev/tty must report exactly that.
var devices = []string{"/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}

// resolvers are files that are used to find the addresses of hosts. They are often links to places outside of the
// system trees.
var resolvers = []string{"/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf"}

// addAll adds the rules for everything that a command may reach.
func (s *ruleset) addAll(rules *Rules) error {
	for _, path := range systemTrees {
		if err := s.addSystem(path, readTree); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := s.addSystem(path, readFile|writeFile); err != nil {
			return err
		}
	}
	// The list of devices may be read.
	if err := s.addSystem("/dev", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	if rules.Network {
		for _, path := range resolvers {
			if err := s.addSystem(path, readFile); err != nil {
				return err
			}
		}
	}
	write := outermost(rules.Write, nil)
	for _, path := range write {
		if err := s.add(path, writeTree); err != nil {
			return fmt.Errorf("sandbox: a path that the command may write: %w", err)
		}
	}
	for _, path := range outermost(rules.Read, write) {
		if err := s.add(path, readTree); err != nil {
			return fmt.Errorf("sandbox: a path that the command may read: %w", err)
		}
	}
	return nil
}

// addSystem adds a path that some systems lack, or do not show to everybody.
func (s *ruleset) addSystem(path string, rights uint64) error {
	err := s.add(path, rights)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sandbox: a path of the system: %w", err)
	}
	return nil
}

// add grants rights on a path and everything below it. Links are followed: their present target counts.
func (s *ruleset) add(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := s.allow(fd, info.Mode&unix.S_IFMT == unix.S_IFDIR, rights); err != nil {
		return &fs.PathError{Op: "landlock_add_rule", Path: path, Err: err}
	}
	if rights == writeTree {
		root, err := realPath(fd)
		if err != nil {
			return &fs.PathError{Op: "readlink", Path: path, Err: err}
		}
		s.roots = append(s.roots, root)
	}
	return nil
}

var errNoProc = errors.New("the sandbox needs /proc, which is not mounted")

// realPath returns the path of the file of a descriptor.
func realPath(fd int) (string, error) {
	b := make([]byte, unix.PathMax+1)
	n, err := unix.Readlink(ownDescriptor(fd), b)
	if errors.Is(err, fs.ErrNotExist) { // for an open descriptor
		return "", errNoProc
	}
	if err != nil {
		return "", err
	}
	if n == len(b) {
		return "", unix.ENAMETOOLONG
	}
	return string(b[:n]), nil
}

// ownDescriptor returns a path that leads to the file of a descriptor.
func ownDescriptor(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// outermost returns the paths, clean and sorted, without those below another of them or below a path of above.
func outermost(paths, above []string) []string {
	var kept []string
	for _, path := range paths {
		kept = append(kept, filepath.Clean(path))
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	all := slices.Concat(kept, above)
	return slices.DeleteFunc(kept, func(path string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return below(path, other) }) ||
			slices.Contains(above, path)
	})
}

// below reports whether a clean path is below another path.
func below(path, other string) bool {
	return path != other && strings.HasPrefix(path, strings.TrimSuffix(other, "/")+"/")
}

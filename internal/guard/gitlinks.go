package guard

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/millrace-go/millrace/internal/names"
)

const (
	// maxLeads is the maximum number of links in the resolution of one name, as on Linux.
	maxLeads = 40
	// maxGitFile is how many bytes are read of a file that names a git directory.
	maxGitFile = 4096 + len("gitdir: \n")
)

// CommonDir returns the git directory that a directory of a tree uses through its .git, which can be a directory, a
// link, or the file of a worktree or a submodule. It is the directory with info, hooks and objects, which worktrees
// share. It is "" if that directory is missing or outside the tree. An impossible name in a git file leads nowhere.
func CommonDir(tree Tree, dir string) (string, error) {
	at, err := commonDir(tree, dir)
	if errors.Is(err, names.ErrBadName) || errors.Is(err, names.ErrNameTooLong) ||
		errors.Is(err, syscall.ENAMETOOLONG) {
		return "", nil
	}
	return at, err
}

func commonDir(tree Tree, dir string) (string, error) {
	r, leads := &Repositories{tree: tree}, []string(nil)
	at, err := r.gitDir(&leads, dir)
	if err != nil || at == "" {
		return "", err
	}
	common, has, err := r.common(&leads, at)
	if err != nil || has {
		return common, err
	}
	return at, nil
}

// follow finds the targets of the .git of a directory.
func (r *Repositories) follow(found *repository, dir string) error {
	at, err := r.gitDir(&found.leads, dir)
	if err != nil || at == "" {
		return err
	}
	return r.inside(found, at)
}

// gitDir returns the git directory that a directory's .git is or leads to, "" if it is not in the tree. It adds the
// names on the way to leads.
func (r *Repositories) gitDir(leads *[]string, dir string) (string, error) {
	at := names.Join(dir, dotGit)
	typ, _, ok, err := r.lookup(at)
	if err != nil || !ok {
		return "", err
	}
	if typ&fs.ModeSymlink != 0 {
		if at, err = r.lead(leads, path.Dir(at), path.Base(at)); err != nil || at == "" {
			return "", err
		}
		if typ, _, ok, err = r.lookup(at); err != nil || !ok {
			return "", err
		}
	}
	if typ.IsRegular() {
		return r.named(leads, at, "gitdir:")
	}
	return at, nil
}

// common returns the repository's directory that the git directory of a worktree names, "" if it is not in the tree.
// has reports whether the file with that name exists.
func (r *Repositories) common(leads *[]string, dir string) (common string, has bool, err error) {
	const file = "commondir"
	typ, _, ok, err := r.lookup(names.Join(dir, file))
	if err != nil || !ok || !typ.IsRegular() {
		return "", false, err
	}
	common, err = r.named(leads, names.Join(dir, file), "")
	return common, true, err
}

// inside finds the targets inside the git directory at the path: the git directory of the main repository, if it
// belongs to a worktree, and the targets of links in it and among its hooks.
func (r *Repositories) inside(found *repository, dir string) error {
	common, _, err := r.common(&found.leads, dir)
	if err != nil {
		return err
	}
	for _, at := range []string{dir, common} {
		if at == "" {
			continue
		}
		for _, in := range []string{at, names.Join(at, "hooks")} {
			if err := r.links(found, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// links finds the targets of the links in a directory.
func (r *Repositories) links(found *repository, dir string) error {
	if typ, _, ok, err := r.lookup(dir); err != nil || !ok || !typ.IsDir() {
		return err
	}
	entries, err := r.tree.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := r.lead(&found.runs, dir, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// named returns the path of the directory that a file names, "" if it is not in the tree.
func (r *Repositories) named(leads *[]string, file, prefix string) (string, error) {
	if typ, _, ok, err := r.lookup(file); err != nil || !ok || !typ.IsRegular() {
		return "", err
	}
	head, err := r.tree.Head(file, maxGitFile)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(head), prefix)
	target = strings.Trim(target, " \r\n")
	if !ok || target == "" {
		return "", nil
	}
	return r.lead(leads, path.Dir(file), filepath.ToSlash(target))
}

// lead resolves a name, relative to a directory or absolute, link by link, and adds the paths of the links and the end
// to leads. It returns the end, which need not exist, "" if the name leads out of the tree.
func (r *Repositories) lead(leads *[]string, dir, name string) (string, error) {
	at := dir
	add := func(name string) {
		if folded := names.FoldPath(name); name != "." && !slices.Contains(*leads, folded) {
			*leads = append(*leads, folded)
		}
	}
	rest, links := name, 0
	if isAbs(name) {
		if at, rest = ".", r.tree.Inside(name); rest == "" {
			return "", nil
		}
	}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == ".":
			return "", nil
		case part == "..":
			at = path.Dir(at)
			continue
		}
		next := names.Join(at, part)
		typ, target, ok, err := r.lookup(next)
		if err != nil {
			return "", err
		}
		if !ok || typ&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		add(next)
		if links++; links > maxLeads {
			return "", nil
		}
		if isAbs(target) {
			if at, target = ".", r.tree.Inside(target); target == "" {
				return "", nil
			}
		}
		rest = target + "/" + rest
	}
	add(at)
	return at, nil
}

func isAbs(name string) bool { return path.IsAbs(name) || filepath.IsAbs(name) }

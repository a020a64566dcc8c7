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
	// maxLeads is how many links one name may lead through, as on Linux.
	maxLeads = 40
	// maxGitFile is how much of a file that names a directory of git is read.
	maxGitFile = 4096 + len("gitdir: \n")
)

// CommonDir returns the directory of git that a directory of a tree belongs to by its .git, whether that is a
// directory, a link, or the file of a worktree or a submodule: the directory with info, hooks and objects, which
// worktrees share. It is "" if that directory is missing or outside of the tree. A name in a file of git that no file
// can have leads nowhere.
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

// follow finds what the .git of a directory leads to.
func (r *Repositories) follow(found *repository, dir string) error {
	at, err := r.gitDir(&found.leads, dir)
	if err != nil || at == "" {
		return err
	}
	return r.inside(found, at)
}

// gitDir returns the directory of git that a directory's .git is or leads to, "" if it is not in the tree. It adds the
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

// common returns the repository's directory that the directory of git of a worktree names, "" if it is not in the tree.
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

// inside finds what the directory of git at the path leads to itself: that of its repository, if it is that of a
// worktree, and the targets of links in it and among its hooks.
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

// links finds where the links in a directory lead.
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

// named returns where the directory that is named in a file is, "" if it is nowhere in the tree.
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

// lead follows a name that counts from a directory, or is absolute, link by link, and adds the paths of the links and
// the end to leads. It returns the end, which need not be there, "" if the name leads out of the tree.
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

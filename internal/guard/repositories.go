package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/names"
)

// Tree is a tree as seen by [Repositories]. Names are canonical, and no link is followed.
type Tree interface {
	// Lookup returns the type of the name, and the target of a link. A missing name is fs.ErrNotExist.
	Lookup(name string) (typ fs.FileMode, target string, err error)
	// Head returns the first bytes of a file.
	Head(name string, most int) ([]byte, error)
	// List returns the entries of a directory.
	List(dir string) ([]fs.DirEntry, error)
	// Inside returns the canonical name for an absolute name of the system, "" if it is not in the tree.
	Inside(absolute string) string
}

// Repositories protect the data of git under any name: each directory that git regards as a repository, and the target
// of a .git that is a link or a file. The names of links on the way are protected too. It is safe for concurrent use.
type Repositories struct {
	tree   Tree
	denied bool // see [Guard.DeniesRepositories]

	mu    sync.RWMutex
	known map[string]*repository // by directory
}

// repository is the git data of one directory.
type repository struct {
	dir   bool     // it is a directory
	is    bool     // git regards the directory as a repository
	leads []string // folded: the targets of its .git, with the links on the way
	runs  []string // folded: the targets of links within repositories, such as hooks that are kept in the tree
}

// NewRepositories returns the repositories of the tree. Directories are read only when they are needed.
func (g *Guard) NewRepositories(tree Tree) *Repositories {
	return &Repositories{tree: tree, denied: g.DeniesRepositories(), known: make(map[string]*repository)}
}

// DeniesRepositories reports whether the policy denies each .git, and therefore also git's data under other names.
func (g *Guard) DeniesRepositories() bool { return anyTakesAt(g.denied, dotGit) }

const dotGit = ".git"

// Check returns the reason why the access to the canonical, resolved path is refused. isDir means that the name is a
// directory.
func (r *Repositories) Check(name string, a Access, isDir bool) error {
	if a != Write && !r.denied {
		return nil
	}
	refused := names.ErrProtected
	if a != Write {
		refused = names.ErrDenied
	}
	folded := ""
	stands, err := r.above(name, func(dir string, at *repository) error {
		if at.is {
			return takes(refused, dir)
		}
		if len(at.leads)+len(at.runs) == 0 {
			return nil
		}
		if folded == "" {
			folded = names.FoldPath(name)
		}
		within := func(lead string) bool { return names.Within(folded, lead) }
		if slices.ContainsFunc(at.leads, within) {
			return fmt.Errorf("%w: %s leads there", refused, names.Join(dir, dotGit))
		}
		if a == Write && r.denied && slices.ContainsFunc(at.runs, within) {
			return fmt.Errorf("%w: a link in the repository of %s leads there", names.ErrReadOnlyPath, dir)
		}
		return nil
	})
	if err != nil || !stands || !isDir || name == "." {
		return err
	}
	if at, err := r.at(name); err != nil || !at.is {
		return err
	}
	return takes(refused, name)
}

// above calls do with the git data of each directory above the name, from the root down, until a part is not a
// directory. It reports whether all parts are directories.
func (r *Repositories) above(name string, do func(dir string, at *repository) error) (stands bool, err error) {
	for end := -1; ; {
		dir := "."
		if end >= 0 {
			dir = name[:end]
		}
		at, err := r.at(dir)
		if err == nil {
			err = do(dir, at)
		}
		if err != nil || !at.dir {
			return false, err
		}
		next := strings.IndexByte(name[end+1:], '/')
		if next < 0 {
			return true, nil
		}
		end += 1 + next
	}
}

// Repository returns the error for a change of a directory that git regards as a repository.
func Repository(dir string) error { return takes(names.ErrProtected, dir) }

func takes(err error, dir string) error {
	return fmt.Errorf("%w: git takes %s for a repository", err, dir)
}

// MadeRepository returns the error for a change that would turn a directory into a repository.
func MadeRepository(dir string) error {
	return fmt.Errorf("%w: git would take %s for a repository", names.ErrProtected, dir)
}

// Holds reports whether something protected is or would be below the path, so that only a directory may be made there.
func (r *Repositories) Holds(name string) (bool, error) {
	folded, holds := names.FoldPath(name), false
	within := func(lead string) bool { return names.Within(lead, folded) }
	_, err := r.above(name, func(_ string, at *repository) error {
		holds = holds || slices.ContainsFunc(at.leads, within) || r.denied && slices.ContainsFunc(at.runs, within)
		return nil
	})
	return holds, err
}

// at returns the git data of a directory of the tree. It is an error if they cannot be read.
func (r *Repositories) at(dir string) (*repository, error) {
	r.mu.RLock()
	found := r.known[dir]
	r.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	found = new(repository)
	typ, _, _, err := r.lookup(dir)
	if found.dir = typ.IsDir(); err == nil && found.dir {
		if found.is, err = r.looksLikeOne(dir); err == nil {
			err = r.follow(found, dir)
		}
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[dir] = found
	return found, nil
}

// Denies reports whether the policy denies a directory because git regards it as a repository. The directory was listed
// at the path under, by which it is in the tree. A search lists each directory before it asks about anything in it, so
// the entries save a call for each directory.
func (r *Repositories) Denies(name, under string, entries []fs.DirEntry) bool {
	if !r.denied || name != under {
		return false
	}
	for _, e := range entries {
		first := e.Name()[0]
		if first == '.' && names.FoldName(e.Name()) == dotGit || names.MarkOf(e.Name(), e.Type()) != 0 ||
			first >= 0x80 {
			at, err := r.at(name)
			return err != nil || at.is
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[name] == nil {
		r.known[name] = &repository{dir: true}
	}
	return false
}

// lookup is the tree's Lookup, with type 0 and ok false for a missing name. A directory that this process cannot search
// counts as missing: the process can neither read nor write there.
func (r *Repositories) lookup(name string) (typ fs.FileMode, target string, ok bool, err error) {
	typ, target, err = r.tree.Lookup(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) || errors.Is(err, fs.ErrPermission) {
		return 0, "", false, nil
	}
	return typ, target, err == nil, err
}

// looksLikeOne reports whether git regards a directory as a repository. It looks for other names only if the first,
// HEAD, exists: most directories have none.
func (r *Repositories) looksLikeOne(dir string) (bool, error) {
	var has names.Marks
	for _, name := range names.RepositoryNames() {
		typ, _, ok, err := r.lookup(names.Join(dir, name))
		if err != nil {
			return false, err
		}
		if ok {
			has |= names.MarkOf(name, typ)
		}
		if has == 0 {
			break
		}
	}
	return has.IsRepository(), nil
}

package walk

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/ignore"
	"github.com/millrace-go/millrace/internal/names"
)

// maxIgnore limits the size of a .gitignore file plus the .gitignore files of the directories above it, in bytes. Real
// files have about 10 KiB at most, and each rule is tested against each file.
const maxIgnore = 1 << 20

var errIgnoreTooLarge = errors.New("file of ignore rules is larger than 1 MiB, with those of the directories above it")

// rulesAbove returns the rules of the directories above root, without the rules in root.
func (w *walker) rulesAbove(root string) *ignore.Matcher {
	if w.opt.NoIgnore {
		return nil
	}
	var above []string // nearest first
	repository := w.exists(names.Join(root, ".git"))
	for dir := root; !repository && dir != path.Dir(dir); {
		dir = path.Dir(dir)
		above = append(above, dir)
		repository = w.exists(names.Join(dir, ".git"))
	}
	if path.IsAbs(root) && !repository {
		// Absolute names have no top of a tree, and a .gitignore in a home directory, for example, should not apply to every
		// tree below it.
		return nil
	}
	var rules *ignore.Matcher
	if repository && len(above) > 0 {
		rules = w.addExclude(rules, above[len(above)-1])
	}
	for _, dir := range slices.Backward(above) {
		rules = w.addRules(rules, dir, handle.Unopened(w.fsys, dir), names.Join(dir, ".gitignore"))
	}
	return rules
}

// addExclude adds the rules of the .git/info/exclude of the repository in a directory. In git's order that file has the
// lowest precedence. If .git is a file, as in a worktree or a submodule, it adds the info/exclude of the repository
// that the file points to, if that is in the tree.
func (w *walker) addExclude(rules *ignore.Matcher, name string) *ignore.Matcher {
	common, err := guard.CommonDir(guard.TreeOf(w.fsys), name)
	if err != nil || common == "" {
		return w.ruleTrouble(rules, names.Join(name, ".git"), err)
	}
	info := names.Join(common, "info")
	dir, err := handle.OpenDir(w.fsys, info)
	if err != nil {
		return w.ruleTrouble(rules, info, err)
	}
	defer dir.Close()
	return w.addRules(rules, name, dir, names.Join(info, "exclude"))
}

func (w *walker) exists(name string) bool {
	_, err := handle.Lstat(w.fsys, name)
	return err == nil
}

// addRules adds a file of rules to the existing rules. They apply to the contents of the directory called name; opened
// is the directory that contains the file.
func (w *walker) addRules(rules *ignore.Matcher, name string, opened capability.DirHandle,
	file string) *ignore.Matcher {
	f, err := opened.OpenFile(path.Base(file))
	if err != nil {
		return w.ruleTrouble(rules, file, err)
	}
	defer f.Close()
	most := maxIgnore - rules.Size()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = errIgnoreTooLarge
	}
	if err != nil {
		return w.ruleTrouble(rules, file, err)
	}
	return rules.Enter(name, data)
}

// ruleTrouble is trouble for a file of rules, except that a file is ignored if it is missing, is not a file, or is
// outside the readable paths.
func (w *walker) ruleTrouble(rules *ignore.Matcher, file string, err error) *ignore.Matcher {
	if err == nil {
		return rules
	}
	for _, none := range [...]error{fs.ErrNotExist, names.ErrNotDir, names.ErrNotRegular, names.ErrNotAllowed,
		names.ErrDenied} {
		if errors.Is(err, none) {
			return rules
		}
	}
	w.trouble(file, handle.Error("read", file, err))
	return rules
}

package fsutil

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/internal/ignore"
)

// maxIgnoreFile is the size above which a .gitignore file is taken for something else, in bytes.
const maxIgnoreFile = 16 << 20

var errIgnoreTooLarge = errors.New("file of ignore rules is larger than 16 MiB")

// rulesAbove returns the rules of the directories above root, those of root itself not among them.
func (w *walker) rulesAbove(root string) *ignore.Matcher {
	if w.opt.NoIgnore {
		return nil
	}
	var above []string // from the nearest up
	repository := w.exists(joinName(root, ".git"))
	for dir := root; !repository && dir != path.Dir(dir); {
		dir = path.Dir(dir)
		above = append(above, dir)
		repository = w.exists(joinName(dir, ".git"))
	}
	if path.IsAbs(root) && !repository {
		// There is no top of a tree where names are absolute, and a .gitignore in a home directory, say, is not meant
		// for every tree below it.
		return nil
	}
	var rules *ignore.Matcher
	for i := len(above) - 1; i >= 0; i-- {
		rules = w.addRules(rules, above[i], &plainDir{fsys: w.fsys, name: above[i]})
	}
	return rules
}

func (w *walker) exists(name string) bool {
	_, err := lstatAt(w.fsys, name)
	return err == nil
}

// addRules adds the .gitignore of a directory to the rules.
func (w *walker) addRules(rules *ignore.Matcher, name string, dir DirHandle) *ignore.Matcher {
	data, err := readIgnoreFile(dir)
	switch {
	case err == nil:
		return rules.Enter(name, data)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNotRegular), errors.Is(err, ErrNotAllowed):
		// None, gone since, or outside of what may be read.
		return rules
	}
	file := joinName(name, ".gitignore")
	w.trouble(file, walkError("read", file, err))
	return rules
}

func readIgnoreFile(dir DirHandle) ([]byte, error) {
	f, err := dir.OpenFile(".gitignore")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	if err == nil && len(data) > maxIgnoreFile {
		err = errIgnoreTooLarge
	}
	return data, err
}

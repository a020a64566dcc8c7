// Package byname finds the pipelines that have names: files in directories of the project and of the user. Its commands
// list them, and write a first one.
package byname

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/yamlform"
)

// Dir is the directory for pipelines in a project, and in the directory of the user's configuration.
const Dir = "pipelines"

// projectDirs are the directories of a project, in the order of their rank.
var projectDirs = []string{Dir, millrace.DefaultStateDir + "/" + Dir}

// form is what the names are made of, and no path is: a path has a dot or a slash in it.
var form = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_-]*$`)

// IsName reports whether an argument can be the name of a pipeline. Anything else is a path.
func IsName(arg string) bool { return form.MatchString(arg) }

// Library finds the pipelines of a tree, nil for none, before those of the user, whose directory of configuration is
// userDir, "" for none.
func Library(tree afero.Fs, userDir string) millrace.Library {
	l := millrace.Library{YAML: yamlform.Decode, Decoder: registry.Decoder()}
	for _, dir := range projectDirs {
		if tree == nil {
			break
		}
		if info, err := tree.Stat(dir); err == nil && !info.IsDir() {
			continue // a file of the project that has nothing to do with this
		}
		l.Dirs = append(l.Dirs, millrace.LibraryDir{Name: dir, FS: tree, Path: dir})
	}
	l.Dirs = append(l.Dirs, userDirs(userDir)...)
	return l
}

// ForAgents is [Library] for callers that are not told where the user's home is.
func ForAgents(tree afero.Fs, userDir string) millrace.Library {
	l := Library(tree, userDir)
	if userDir != "" {
		l.Dirs[len(l.Dirs)-1].Name = "the user's configuration"
	}
	return l
}

// userDirs is the directory of the user, if there is one.
func userDirs(userDir string) []millrace.LibraryDir {
	if userDir == "" {
		return nil
	}
	at := filepath.Join(userDir, Dir)
	return []millrace.LibraryDir{{Name: filepath.ToSlash(at), FS: afero.NewOsFs(), Path: at}}
}

// FileOf returns the file of an entry for messages: a path from the root of the tree, or an absolute one.
func FileOf(e millrace.LibraryEntry) string { return path.Join(e.Dir, e.File) }

// IsAbsent reports whether there is no pipeline of the name. Else the error is about the existing pipeline.
func IsAbsent(err error) bool {
	found, ok := errors.AsType[*millrace.LibraryError](err)
	return ok && found.Dir == "" && errors.Is(err, fs.ErrNotExist)
}

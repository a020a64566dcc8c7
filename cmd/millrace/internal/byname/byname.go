// Package byname finds pipelines by name, in directories of the project and of the user. Its commands list them, and
// write a first pipeline.
package byname

import (
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

// form is the form of names. A path never has it, because a path contains a dot or a slash.
var form = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_-]*$`)

// IsName reports whether an argument can be the name of a pipeline. Anything else is a path.
func IsName(arg string) bool { return form.MatchString(arg) }

// Library returns the pipelines of a tree (nil for none), and after them the pipelines in userDir, the user's
// configuration directory ("" for none).
func Library(tree afero.Fs, userDir string) millrace.Library {
	l := millrace.Library{YAML: yamlform.Decode, Decoder: registry.Decoder()}
	for _, dir := range projectDirs {
		if tree == nil {
			break
		}
		if info, err := tree.Stat(dir); err == nil && !info.IsDir() {
			continue // an unrelated file of the project
		}
		l.Dirs = append(l.Dirs, millrace.LibraryDir{Name: dir, FS: tree, Path: dir})
	}
	l.Dirs = append(l.Dirs, userDirs(userDir)...)
	return l
}

// ForAgents is [Library] for callers that must not learn the path of the user's home directory.
func ForAgents(tree afero.Fs, userDir string) millrace.Library {
	l := Library(tree, userDir)
	if userDir != "" {
		l.Dirs[len(l.Dirs)-1].Name = "the user's configuration"
	}
	return l
}

// userDirs returns the directory of the user, if any.
func userDirs(userDir string) []millrace.LibraryDir {
	if userDir == "" {
		return nil
	}
	at := filepath.Join(userDir, Dir)
	return []millrace.LibraryDir{{Name: filepath.ToSlash(at), FS: afero.NewOsFs(), Path: at}}
}

// FileOf returns the file of an entry for messages: a path from the root of the tree, or an absolute one.
func FileOf(e millrace.LibraryEntry) string { return path.Join(e.Dir, e.File) }

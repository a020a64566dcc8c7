// Package config reads what a user and a project have configured. The user's file reports what the user likes and how
// far changes may go. The project's file lies in the tree, so it comes with a clone, from a stranger: it can make
// narrower what may be done, never wider, and it says nothing of the programs that run on the user's machine.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/risk"
)

// UserFile is the name of the user's file in its directory, ProjectFile that of the project's at the root of the tree.
const (
	UserFile    = "config.yaml"
	ProjectFile = ".millrace.yaml"
)

// MaxBytes is how long a file may be.
const MaxBytes = 64 << 10

// Limits are how far changes may go, by one of the files.
type Limits struct {
	// Ceiling is the highest risk that may be committed, also with force. Unset means that the file says nothing of it.
	Ceiling risk.Level
	// MaxFiles is how many files may be changed without force, zero if the file says nothing of it.
	MaxFiles int
	// Allow are the clean paths that steps may reach, with all below them. Nil means the whole tree, a list that is
	// empty and not nil no path.
	Allow []string
	// Deny and ReadOnly are the globs of what steps cannot reach, and cannot change.
	Deny, ReadOnly []string
}

// Config is what both files say together. The zero Config is that of no files.
type Config struct {
	// Limits are those of the user.
	Limits
	// Project are those of the project. They hold whatever the user's file and flags say.
	Project Limits
	// Pager and Editor are command lines, "" for none. PagerSet reports that the file names a pager: an empty one means
	// that none is to be used.
	Pager, Editor string
	PagerSet      bool
	// Color is auto, always or never, "" if the file says nothing of it.
	Color string
	// Confirm is the lowest risk that the user is asked about at a terminal; a change below it is made at once. Unset
	// means that every change is asked about.
	Confirm risk.Level
	// Exec has the programs that pipelines may run, and the paths that they reach.
	Exec Exec
	// Agents are the agents that prompts can ask, by name. The name "default" is for prompts that name none.
	Agents map[string]Agent
	// RunsStore is the directory that keeps runs, absolute or beginning with ~/. "" means that only runs are kept that
	// ask for it, in the state directory of their tree.
	RunsStore string
	// Backups limits the kept backups, as [backup.Retention] does.
	Backups backup.Retention
	// Risk says where the levels of risk begin. Zero fields have the numbers of package risk.
	Risk risk.Policy

	// project is the name of the project's file, for messages.
	project string
}

// Exec has what the user lets programs do. The zero Exec allows typed programs alone.
type Exec struct {
	// Allow are patterns of command lines, as in the Allow of a command.Policy.
	Allow []string
	// Read and Write are absolute paths, or such that begin with ~/; Env are variables of the user.
	Read, Write, Env []string
	// Network lets programs use the network.
	Network bool
	// Sandbox is required, best-effort or off, "" if the file says nothing of it.
	Sandbox string
	// NoToolchains leaves out all that programs get for the toolchains of the tree.
	NoToolchains bool
}

// Agent is a program that answers prompts: it reads the prompt from stdin and prints the answer.
type Agent struct {
	// Command is the program and its arguments.
	Command []string
	// Format is text or json, "" for text; see agent.Format.
	Format string
	// Read, Write and Env are as those of Exec, for this program alone.
	Read, Write, Env []string
	// Timeout is the longest that an answer may take, 0 for that of package command.
	Timeout time.Duration
}

// UserDir returns the directory of the user's file, "" if the system knows of none.
func UserDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "millrace")
}

// Load reads the user's file in the directory of the system and the project's at the root of the tree. An empty userDir
// leaves out the one, a nil root the other; so does a file that is not there. A file that cannot be read or understood
// is an error: what it forbids is not known then. An *[Error] has all that is wrong with it.
func Load(userDir string, root afero.Fs) (Config, error) {
	var c Config
	var problems []Problem
	if userDir != "" {
		name := filepath.Join(userDir, UserFile)
		text, err := readFile(os.Stat, func(name string) (io.ReadCloser, error) { return os.Open(name) }, name)
		if err != nil {
			return Config{}, fmt.Errorf("the configuration %s: %w", name, err)
		}
		problems = decode(name, text, false, &c)
	}
	if root != nil {
		// A link could lead to what the tree does not show, and then the message would.
		text, err := readFile(lstat(root), func(name string) (io.ReadCloser, error) { return root.Open(name) },
			ProjectFile)
		if err != nil {
			return Config{}, fmt.Errorf("the project's configuration %s: %w", ProjectFile, err)
		}
		c.project = ProjectFile
		problems = append(problems, decode(ProjectFile, text, true, &c)...)
	}
	if len(problems) > 0 {
		return Config{}, &Error{Problems: problems}
	}
	return c, nil
}

// lstat returns the facts of a file of the tree without following a link, where the file system can.
func lstat(root afero.Fs) func(string) (fs.FileInfo, error) {
	return func(name string) (fs.FileInfo, error) {
		if l, ok := root.(afero.Lstater); ok {
			info, _, err := l.LstatIfPossible(name)
			return info, err
		}
		return root.Stat(name)
	}
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLong    = fmt.Errorf("it is longer than %d KiB", MaxBytes>>10)
)

// readFile returns the text of a file, "" if there is none. Only a regular file is opened, because a pipe would
// never end.
func readFile(
	stat func(string) (fs.FileInfo, error), open func(string) (io.ReadCloser, error), name string,
) (string, error) {
	info, err := stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	f, err := open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return "", err
	}
	if n > MaxBytes {
		return "", errTooLong
	}
	return text.String(), nil
}

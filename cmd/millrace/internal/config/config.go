// Package config reads the configuration of a user and a project. The user's file has the preferences of the user and
// the limits of changes. The project's file is in the tree, so it may come from a stranger with a clone: it can only
// restrict changes further, and it does not affect the programs that run on the user's machine.
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

// UserFile is the name of the user's file in its directory, ProjectFile the name of the project's file at the root of
// the tree.
const (
	UserFile    = "config.yaml"
	ProjectFile = ".millrace.yaml"
)

// MaxBytes limits the size of a file.
const MaxBytes = 64 << 10

// Limits are the limits of changes in one of the files.
type Limits struct {
	// Ceiling is the highest risk that may be committed, even with force. Unset means that the file does not set it.
	Ceiling risk.Level
	// MaxFiles is the maximum number of files changed without force, zero if the file does not set it.
	MaxFiles int
	// Allow are the clean paths that steps may access, with everything below them. Nil means the whole tree, an empty list
	// that is not nil means no path.
	Allow []string
	// Deny are the globs of paths that steps cannot access, ReadOnly the globs of paths that steps cannot change.
	Deny, ReadOnly []string
}

// Config is the combined content of both files. The zero Config means that both files are missing.
type Config struct {
	// Limits are the limits from the user's file.
	Limits
	// Project are the limits from the project's file. They apply regardless of the user's file and flags.
	Project Limits
	// Pager and Editor are command lines, "" for none. PagerSet means that the file sets a pager: an empty one means no
	// pager.
	Pager, Editor string
	PagerSet      bool
	// Color is auto, always or never, "" if the file does not set it.
	Color string
	// Confirm is the lowest risk for which the user is asked at a terminal; a change below it is made without asking.
	// Unset means that every change is asked about.
	Confirm risk.Level
	// Exec has the programs that pipelines may run, and the paths they can access.
	Exec Exec
	// Agents are the agents that prompts can ask, by name. The name "default" is for prompts that name none.
	Agents map[string]Agent
	// RunsStore is the directory that stores runs, absolute or beginning with ~/. "" means that only runs that ask for it
	// are stored, in the state directory of their tree.
	RunsStore string
	// Backups limits the kept backups, see [backup.Retention].
	Backups backup.Retention
	// Risk has the thresholds of the levels of risk. Zero fields mean the defaults of package risk.
	Risk risk.Policy

	// project is the name of the project's file, for messages.
	project string
}

// Exec has the user's permissions for programs. The zero Exec only allows typed programs.
type Exec struct {
	// Allow are patterns of command lines, as in Allow of a command.Policy.
	Allow []string
	// Read and Write are paths that are absolute or begin with ~/; Env are variables of the user.
	Read, Write, Env []string
	// Network lets programs use the network.
	Network bool
	// Sandbox is required, best-effort or off, "" if the file does not set it.
	Sandbox string
	// NoToolchains removes the permissions that programs get for the toolchains of the tree.
	NoToolchains bool
}

// Agent is a program that answers prompts: it reads the prompt from stdin and prints the answer.
type Agent struct {
	// Command is the program and its arguments.
	Command []string
	// Format is text or json, "" for text; see agent.Format.
	Format string
	// Read, Write and Env are as in Exec, but only for this program.
	Read, Write, Env []string
	// Timeout is the maximum time for an answer, 0 for the default of package command.
	Timeout time.Duration
}

// UserDir returns the directory of the user's file, "" if the system has none.
func UserDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "millrace")
}

// Load reads the user's file in the given directory and the project's at the root of the tree. An empty userDir skips
// the first, a nil root the second; a missing file is also skipped. A file that cannot be read or parsed is an error,
// because its restrictions are unknown. An *[Error] has all problems of the files.
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
		// A link could lead out of the tree, and the message would show the target's text.
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

// lstat returns a function that describes a file of the tree without following a link, if the file system can.
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

// readFile returns the text of a file, "" if it does not exist. It only opens a regular file, because a pipe would
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

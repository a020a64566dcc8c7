package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// private is a temporary directory for one command, "" for none.
type private string

// private creates the directories that the caller has not set.
func (p Policy) private(c *Command) (private, error) {
	if c.Temp != "" && c.Home != "" {
		return "", nil
	}
	if p.Scratch != "" {
		if err := os.MkdirAll(p.Scratch, 0o700); err != nil {
			return "", fmt.Errorf("command policy: Scratch: %w", err)
		}
	}
	top, err := os.MkdirTemp(p.Scratch, "millrace-command-")
	if err != nil {
		return "", fmt.Errorf("a command needs a directory of its own: %w", err)
	}
	made := private(top)
	for _, dir := range []struct {
		field *string
		name  string
	}{{&c.Temp, "tmp"}, {&c.Home, "home"}} {
		if *dir.field != "" {
			continue
		}
		*dir.field = filepath.Join(top, dir.name)
		if err := os.Mkdir(*dir.field, 0o700); err != nil {
			_ = made.remove()
			return "", fmt.Errorf("a command needs a directory of its own: %w", err)
		}
	}
	return made, nil
}

// remove removes the directory with its contents. A command may have created directories that its own user cannot write
// to, like the Go module cache.
func (d private) remove() error {
	if d == "" || os.RemoveAll(string(d)) == nil {
		return nil
	}
	_ = filepath.WalkDir(string(d), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(string(d)); err != nil {
		return fmt.Errorf("a directory of the command cannot be removed: %w", err)
	}
	return nil
}

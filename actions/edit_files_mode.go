package actions

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// errMode is the error for a text that is not a valid file mode.
var errMode = errors.New(`a mode is three octal digits, as chmod(1) takes them, such as "0755" or "644"; the owner may read`)

// parseMode reads the permission bits of a file. Bits that are not permissions are refused, and so is a file that its
// owner cannot read, because no later step could read it.
func parseMode(text string) (fs.FileMode, error) {
	digits := text
	if len(digits) == 4 {
		digits = strings.TrimPrefix(digits, "0")
	}
	bits, err := strconv.ParseUint(digits, 8, 32)
	if err != nil || len(digits) != 3 || bits&0o400 == 0 {
		return 0, errMode
	}
	return fs.FileMode(bits), nil
}

// checkMode reports a mode that cannot be read.
func checkMode(c *Check, at, mode string) {
	if mode == "" || c.Templated(mode) {
		return
	}
	if _, err := parseMode(mode); err != nil {
		c.Problemf(at, codeBadMode, "", "'%s' is not a mode: %v", mode, err)
	}
}

// WithMode returns the action with a mode for each file that it creates or overwrites, such as "0755".
func (e EditFiles) WithMode(mode string) EditFiles {
	all := make([]FileEdits, len(e.FileEdits))
	for i, f := range e.FileEdits {
		edits := append([]LineEdit(nil), f.Edits...)
		for k := range edits {
			if edits[k].Command == commandCreate {
				edits[k].Mode = mode
			}
		}
		all[i] = FileEdits{Path: f.Path, Edits: edits}
	}
	e.FileEdits = all
	return e
}

// planMode plans the new mode of the file. A changed mode counts as one more place.
func (w *planning) planMode() error {
	if w.create < 0 || w.edits[w.create].Mode == "" {
		return nil
	}
	mode, err := parseMode(w.edits[w.create].Mode)
	if err != nil {
		return err
	}
	if !w.isNew {
		info, err := w.call.FS.Stat(w.path)
		if err != nil {
			return err
		}
		if info.Mode().Perm() == mode {
			return nil
		}
		w.changed++
	}
	w.mode = &mode
	return nil
}

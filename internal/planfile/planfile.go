// Package planfile reads and writes the changes of a plan that is stored as JSON. It checks changes from outside: a run
// could have planned them, and the host allows them. It also computes digests of plans, for their approval.
package planfile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/preview"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
)

// Error is the reason why a plan cannot be adopted or stored.
type Error struct {
	// Path is the path of the refused change, or "".
	Path string
	Err  error
}

// Error gives the path and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Change is a change with the bytes it writes, unless splices have them.
type Change struct {
	change.Change
	Content []byte `json:"content,omitempty"`
	// Before is the old text of a small file, so that the change can be shown even after the file has changed. It is
	// optional.
	Before []byte `json:"before,omitempty"`
	Trash  bool   `json:"trash,omitempty"` // see [backing.Backing]
}

// Changes are the changes of a plan. They are read one by one, so that a list of many invalid elements is refused at
// the first one.
type Changes []Change

// UnmarshalJSON implements [json.Unmarshaler].
func (l *Changes) UnmarshalJSON(data []byte) error {
	last := ""
	return EachElement(data, func(dec *json.Decoder) error {
		var c Change
		if err := dec.Decode(&c); err != nil {
			return err
		}
		if len(*l) > 0 && c.Path <= last {
			return &Error{Path: c.Path, Err: errors.New("changes are not in path order, or a path has two")}
		}
		last = c.Path
		*l = append(*l, c)
		return nil
	})
}

// ownContent reports whether the new bytes of a change come neither from splices nor from the old bytes.
func ownContent(c change.Change) bool {
	return c.New.Kind == change.File && c.Splices == nil && (c.Old.Kind != change.File || c.Old.Hash != c.New.Hash)
}

// Store returns the changes with all bytes that they write. The error is an *Error if a change cannot be stored.
func Store(changes []change.Change, limits actions.Limits) (Changes, error) {
	stored := make(Changes, len(changes))
	left := keptBytes
	for i, c := range changes {
		for _, name := range []string{c.Path, c.From, c.Old.Target, c.New.Target, c.Replaced.Target} {
			if !utf8.ValidString(name) {
				err := errors.New("the name is not valid UTF-8, so it cannot be written as JSON")
				return nil, &Error{Path: c.Path, Err: err}
			}
		}
		c, err := stage.Summed(c)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
		stored[i] = Change{Change: c, Before: keptText(c, &left), Trash: c.Trash}
		if !ownContent(c) {
			continue
		}
		if err := preview.CheckSizes(limits, c.Old, c.New); err != nil {
			return nil, &Error{Path: c.Path, Err: err}
		}
		if stored[i].Content, err = preview.ReadAll(c.OpenNew, c.New.Size); err != nil {
			return nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
	return stored, nil
}

// Tree is the tree against which changes from outside are checked.
type Tree struct {
	FS     afero.Fs
	Guard  guard.Policy
	Limits actions.Limits
}

// Adopt checks changes from outside and connects them to the tree. The error is an *Error, or the error of the
// context. moved are the paths of files that have changed since the plan, and are shown with the old text in the plan.
func (t Tree) Adopt(ctx context.Context, stored Changes) (changes []change.Change, moved []string, err error) {
	plain := stage.New(t.FS)
	defer plain.Close() // nothing was written to it
	guarded := stage.New(t.FS)
	defer guarded.Close()
	guarded.SetGuard(t.Guard)
	w := newWays(plain, guarded, stored)
	changes = make([]change.Change, len(stored))
	for i, c := range stored {
		err := ctx.Err()
		if err != nil {
			return nil, nil, err
		}
		if err = checkAlone(t.Guard, c); err == nil {
			err = cmp.Or(w.check(c.Change), w.checkLink(c.Change))
		}
		if err == nil {
			var shown bool
			if changes[i], shown, err = t.adopt(c); shown {
				moved = append(moved, c.OldPath())
			}
		}
		if err != nil {
			return nil, nil, &Error{Path: c.Path, Err: err}
		}
	}
	if err := checkTogether(changes); err != nil {
		return nil, nil, err
	}
	if err := t.Guard.CheckChanges(guard.TreeOf(t.FS), changes); err != nil {
		told := &Error{Err: err}
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			told.Path, told.Err = e.Path, e.Err
		}
		return nil, nil, told
	}
	return changes, moved, nil
}

// hasMoved reports whether the old file of a change now has another text, or is gone. If it is now something else, for
// example a pipe, it is not opened, and hasMoved returns false: the change cannot be shown.
func (t Tree) hasMoved(c Change, openOld func() (io.ReadCloser, error)) bool {
	found, err := disk.Open(t.FS).Reach(c.OldPath())
	if err != nil || found.Kind != change.File {
		return err == nil && found.Kind == change.Absent
	}
	now, err := preview.ReadAll(openOld, c.Old.Size)
	return err == nil && change.HashOf(now) != c.Old.Hash
}

// adopt checks one change and connects it to the tree. moved means that the file has changed, so that the old side
// is the text in the plan.
func (t Tree) adopt(c Change) (adopted change.Change, moved bool, err error) {
	openOld := func() (io.ReadCloser, error) { return disk.Open(t.FS).OpenFound(c.OldPath()) }
	if c.Old.Kind != change.File {
		openOld = nil
	}
	if c.Before != nil {
		if c.Old.Kind != change.File || change.HashOf(c.Before) != c.Old.Hash || int64(len(c.Before)) != c.Old.Size {
			return c.Change, false, errors.New("the text before is not what its hash says")
		}
		if moved = t.hasMoved(c, openOld); moved {
			openOld = backing.Bytes(c.Before) // the commit compares the file itself
		}
	}
	openNew := openOld // if only the name or the mode changes
	switch {
	case c.New.Kind != change.File:
		openNew = nil
	case ownContent(c.Change):
		if change.HashOf(c.Content) != c.New.Hash || int64(len(c.Content)) != c.New.Size {
			return c.Change, moved, errors.New("the content is not what its hash says")
		}
		openNew = backing.Bytes(c.Content)
	default:
		// The hash does not cover the size, and the views of the plan trust the size.
		size, err := splice.Check(c.Splices, c.Old.Size)
		if err == nil && size != c.New.Size {
			err = fmt.Errorf("the new size is %d bytes, but the change makes %d of the old %d", c.New.Size, size,
				c.Old.Size)
		}
		if err == nil && c.Splices != nil {
			err = preview.CheckSizes(t.Limits, c.Old, c.New)
			made := c.Change
			openNew = func() (io.ReadCloser, error) { return preview.OpenSpliced(openOld, made) }
		}
		if err != nil {
			return c.Change, moved, err
		}
	}
	c.SetBytes(openOld, openNew)
	c.Change.Trash = c.Trash
	return c.Change, moved, nil
}

// Digest returns a SHA-256, as 64 hexadecimal digits, of the effect of a commit of the changes. It reads the files
// whose new hash is not known yet.
func Digest(changes []change.Change, noBackup bool) (string, error) {
	sum := sha256.New()
	add(sum, "millrace plan 1", fmt.Sprint(noBackup))
	for _, c := range changes {
		c, err := stage.Summed(c)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", c.Path, err)
		}
		add(sum, string(c.Kind), c.Path, c.From, fmt.Sprint(c.Permanent))
		if c.Trash && noBackup {
			add(sum, "trash")
		}
		for _, s := range []change.State{c.Old, c.New, c.Replaced} {
			add(sum, s.Kind.String(), s.Hash.String(), fmt.Sprintf("%o", uint32(s.Mode)), s.Target)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// add adds texts to a sum, each with its length, so that the boundaries between texts are part of the sum.
func add(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		sum.Write([]byte(text))
	}
}

package commit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// A file that is a mount point, such as a file mounted into a container, can neither be renamed nor replaced. If the
// caller allows it, its bytes are overwritten instead. The before-image is a copy then, and both the before-image and
// the new content are durable before the first byte is written. Until the commit the file has a mix of both contents:
// undoing writes the old bytes again. Any other bytes were written by another program.

// findMounted marks the entries of mount points, and fails if an entry cannot be changed.
func (t *txn) findMounted() error {
	for _, point := range t.MountPoints() {
		e := t.byPath[point]
		if e == nil || e.Attr || e.Old.Kind == change.Absent || isKeptDir(e) {
			continue
		}
		if !t.opts.InPlace || e.Old.Kind != change.File || e.New.Kind != change.File || e.From != "" {
			return t.fail(e.Path, capability.ErrMountPoint)
		}
		e.InPlace = true
	}
	return nil
}

// overwrite writes the new content over the old.
func (t *txn) overwrite(e *entry) error {
	if err := t.expectUnchanged(e); err != nil {
		return err
	}
	if err := t.expect(e.Path, e.Path, e.Old); err != nil {
		return err
	}
	return t.writeOver(e, t.staged(e), e.New)
}

// writeOver copies the bytes of a file of the transaction over the file at the path, and sets its mode and time as
// in want.
func (t *txn) writeOver(e *entry, from string, want change.State) error {
	source, err := t.OpenFound(from)
	if err != nil {
		return err
	}
	defer source.Close()
	made, err := t.Overwrite(e.Path, source)
	if err == nil && made != want.Hash {
		err = errDamaged
	}
	if err != nil {
		return err
	}
	now, err := t.Look(e.Path)
	if err != nil {
		return err
	}
	return disk.Optional(t.setMeta(e.Path, now, want, true), t.warner(e.Path))
}

// writeBack writes the old content over the bytes that the transaction has written.
func (u *undoing) writeBack(e *entry) error {
	s, ok, err := u.at(e)
	if err != nil || !ok {
		return err
	}
	if is, err := u.isOld(e, e.Path, s); err != nil {
		return err
	} else if is {
		return u.setMeta(e.Path, s, e.Old, true)
	}
	ours := s.Kind == change.File
	if ours {
		ours, err = u.isMixed(e, s)
	}
	switch {
	case err != nil:
		return err
	case !ours:
		u.conflict(e, kindReasonOr(s, reasonWritten))
		return nil
	}
	image := u.image(e)
	if h, _, err := u.Hash(image, e.Old.Size); disk.UnlessAbsent(err) != nil {
		return err
	} else if err != nil || h != e.Old.Hash {
		u.conflict(e, fmt.Sprintf("cannot be restored: its before-image %s is damaged", image))
		return nil
	}
	return u.writeOver(e, image, e.Old)
}

// kindReasonOr returns the change of kind if the path is not a file any more, else the reason.
func kindReasonOr(s change.State, reason string) string {
	if s.Kind != change.File {
		return kindReason(change.File, s.Kind)
	}
	return reason
}

// isMixed reports whether each byte of the file at the path, in state s, is the byte of the old or of the new content
// at that offset, or zero: after a power cut, bytes that had not reached the disk are zero.
func (u *undoing) isMixed(e *entry, s change.State) (bool, error) {
	if s.Size < min(e.Old.Size, e.New.Size) || s.Size > max(e.Old.Size, e.New.Size) {
		return false, nil
	}
	var readers [3]*bufio.Reader
	for i, name := range []string{e.Path, u.image(e), u.staged(e)} {
		f, err := u.OpenFound(name)
		if err != nil {
			if i > 0 && errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return false, err
		}
		defer f.Close()
		readers[i] = bufio.NewReaderSize(f, 64<<10)
	}
	for {
		var at [3]int
		for i, r := range readers {
			b, err := r.ReadByte()
			at[i] = int(b)
			if err == io.EOF {
				at[i] = -1
			} else if err != nil {
				return false, err
			}
		}
		switch is, old, made := at[0], at[1], at[2]; {
		case is < 0:
			return true, nil
		case is != old && is != made && is != 0:
			return false, nil
		}
	}
}

package filelock

import (
	"cmp"
	"errors"
	"strings"

	"github.com/millrace-go/millrace/internal/disk"
)

// takeOver moves the mark of a dead process away, so that a single process gets it, and then reads it again. It returns
// the mark's new name, "" if the mark is not moved or is removed already.
//
// The new name has the token of the mark and stays until a release sweeps it. So a slower process that takes over the
// same mark cannot move the mark of the next owner: no directory replaces a directory that has files.
func (m *Mark) takeOver(holder *owner, made string) (aside string, _ *owner, err error) {
	if holder == nil {
		holder = &owner{}
	}
	aside = m.aside()
	if isToken(made) {
		aside = m.name + "-" + made
	}
	err = m.disk.FS.Rename(m.name, aside)
	if disk.IsExist(err) {
		if now, merr := m.made(m.name); merr != nil || now != made {
			return "", holder, merr // another process was faster
		}
		aside = m.aside() // there are two copies of the mark
		err = m.disk.FS.Rename(m.name, aside)
	}
	switch {
	case disk.IsAbsent(err):
		return "", holder, nil // another process was faster
	case err != nil:
		return "", nil, err
	}
	now, err := m.ownerIn(aside)
	token, terr := m.made(aside)
	if err = cmp.Or(err, terr); err != nil || token != made || now != nil && now.Token != holder.Token {
		// Another process has taken over in between, and this is its mark; or the owner cannot be read.
		if now == nil {
			now = new(owner) // it is about to write its name
		}
		rerr := m.disk.FS.Rename(aside, m.name)
		if err != nil && rerr != nil {
			return "", now, errors.Join(err, rerr)
		}
		return "", now, cmp.Or(err, rerr)
	}
	if aside == m.aside() {
		return "", holder, m.disk.RemoveTree(aside)
	}
	return aside, holder, nil
}

// isToken reports whether a text may be a token. Any program may have written the text.
func isToken(text string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // of rand.Text
	return len(text) >= 26 && len(text) <= 64 && strings.Trim(text, letters) == ""
}

package filelock

import (
	"errors"
	"strings"
	"time"

	"github.com/millrace-go/millrace/internal/disk"
)

// StillMine returns [ErrLost] if the mark belongs to another lock now. It waits while another process has moved the
// mark away to look at it.
func (m *Mark) StillMine() error {
	for range 100 {
		holder, err := m.owner()
		switch {
		case err != nil, holder != nil && holder.Token == m.me.Token, holder == nil && m.leaving:
			return err // a release that is repeated may have removed the name already
		case holder != nil || !m.borrowed():
			return ErrLost
		}
		time.Sleep(time.Millisecond)
	}
	return ErrLost
}

// Remove removes the mark, or returns [ErrLost] if the mark belongs to another lock now. It moves the mark away first.
// Otherwise the mark, removed piece by piece, would look for a moment like the mark of a process that died while making
// it, and another process would take it over. In a MemMapFs, renaming and removing the same name at the same time
// deadlocks the file system.
func (m *Mark) Remove() error {
	m.leaving = true
	for range 100 {
		err := m.disk.FS.Rename(m.name, m.aside())
		if err != nil && !disk.IsAbsent(err) {
			// a remaining mark of a living process would block all others
			return errors.Join(err, m.disk.RemoveTree(m.name))
		}
		if err == nil {
			if err := m.checkMoved(); err != nil {
				return err
			}
		}
		if err == nil || !m.borrowed() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	err := m.disk.RemoveTree(m.aside())
	for range 10 {
		if !disk.IsExist(err) { // the directory is not empty
			break
		}
		err = m.disk.RemoveTree(m.aside()) // another process has just made its mark there, and will notice
	}
	return disk.UnlessAbsent(err) // the next holder sweeps
}

// checkMoved returns ErrLost if Remove has moved the mark of another process away, and moves it back.
func (m *Mark) checkMoved() error {
	token, err := m.made(m.aside())
	switch {
	case err == nil && token != "" && token != m.me.Token:
		err = ErrLost
	case err == nil:
		return nil
	}
	return errors.Join(err, m.disk.FS.Rename(m.aside(), m.name))
}

// borrowed reports whether another process has moved the mark away, because it mistook it for an older mark, and has
// not put it back yet, or has just done so.
func (m *Mark) borrowed() bool {
	besides, _ := m.besides() // if the directory cannot be listed, waiting is useless
	for _, name := range besides {
		if name == m.aside() || strings.HasSuffix(name, besideEnd) {
			continue
		}
		if o, err := m.ownerIn(name); err == nil && o != nil && o.Token == m.me.Token {
			return true
		}
	}
	o, err := m.owner()
	return err == nil && o != nil && o.Token == m.me.Token
}

// Sweep removes the files of processes that died while they made the mark or took it over. A process that is just
// writing such a file tries again.
func (m *Mark) Sweep() error {
	besides, err := m.besides()
	for _, name := range besides {
		read := m.ownerIn
		if strings.HasSuffix(name, besideEnd) {
			read = m.read
		}
		o, rerr := read(name)
		if rerr == nil && (o == nil || o.gone(&m.me)) {
			rerr = disk.UnlessAbsent(m.disk.RemoveTree(name))
		}
		err = errors.Join(err, rerr)
	}
	return err
}

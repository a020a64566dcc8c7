package commit

import (
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// noteWritten says if somebody has written in the old file after it was taken out of the tree. Those bytes are
// restored: they are the newest.
func (u *undoing) noteWritten(e *entry, s change.State) {
	if s.Kind != change.File || s.Size == e.Old.Size && s.ModTime.Equal(e.Old.ModTime) || u.movedTimeChanged(e, s) {
		return
	}
	u.conflict(e, "was written to by somebody else meanwhile; restored with what they wrote")
}

// movedTimeChanged reports whether the transaction itself has given the file another time, at the path that it was
// moved to.
func (u *undoing) movedTimeChanged(e *entry, s change.State) bool {
	to := u.movedTo(e)
	return to != nil && s.Size == e.Old.Size && s.ModTime.Equal(to.New.ModTime)
}

// movedTo is the entry that the file of e was moved to, nil if it was not.
func (u *undoing) movedTo(e *entry) *entry { return u.moves[e.Path] }

// restoreAttr gives files and directories back their mode and time where the transaction changed them.
func (u *undoing) restoreAttr(e *entry) error {
	s, err := disk.Reach(u, e.Path)
	if err != nil || s.Kind != e.Old.Kind || u.notOurs[e] {
		return err
	}
	if e.Old.Kind == change.Dir {
		return u.restoreDirAttr(e, s)
	}
	var to change.State
	if e.Attr {
		to = e.New
	} else if m := u.movedTo(e); m != nil {
		to = m.New
	} else if s.Kind == change.Symlink {
		to = s // one that was made anew has lost its time if the power failed then
	} else {
		return nil
	}
	is, err := u.isOld(e, e.Path, s)
	if err != nil || !is {
		return err
	}
	want := e.Old
	if s.Mode != to.Mode {
		want.Mode = s.Mode // somebody else has changed it
	}
	return u.setMeta(e.Path, s, want, s.ModTime.Equal(to.ModTime))
}

func (u *undoing) restoreDirAttr(e *entry, s change.State) error {
	want := e.Old
	timed := e.New.Kind != change.Dir
	ours := u.made[e] || timed || s.Mode == e.New.Mode || s.Mode == e.New.Mode|0o700 || s.Mode == e.Old.Mode|0o700
	if !ours {
		return nil
	}
	return u.setMeta(e.Path, s, want, timed)
}

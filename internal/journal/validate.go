package journal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

const digits, lowerHex, letters = "0123456789", digits +
	"abcdef", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// consistsOf reports whether s has a length from least to most, and contains only these bytes.
func consistsOf(s, bytes string, least, most int) bool {
	return least <= len(s) && len(s) <= most && strings.Trim(s, bytes) == ""
}

// ValidRunID reports whether id can name the result file of a run: 1 to 255 letters, digits, "_" and "-".
func ValidRunID(id string) bool { return consistsOf(id, letters+digits+"_-", 1, 255) }

// ValidID reports whether id has the form of the ids of NewID, and so is safe as a file name: 20060102_150405_ and 9 to
// 64 hexadecimal digits.
func ValidID(id string) bool {
	date, rest, _ := strings.Cut(id, "_")
	clock, random, _ := strings.Cut(rest, "_")
	return consistsOf(date, digits, 8, 8) && consistsOf(clock, digits, 6, 6) && consistsOf(random, lowerHex, 9, 64)
}

// Validate checks that the plan can be carried out and undone without touching anything but its paths. Each path must
// be canonical, outside the state directory and version control directories, and listed once, in order. No path may be
// below a path that is not a directory, and each record must be consistent. The error is an *Error.
func (p *Plan) Validate() error {
	if err := p.validateHeader(); err != nil {
		return &Error{Reason: BadRecord, Err: err}
	}
	guard := guard.Policy{Reserved: p.StateDir}
	slots := make(map[int]bool, len(p.Records))
	byPath := make(map[string]*Record, len(p.Records))
	for i := range p.Records {
		r := &p.Records[i]
		if err := guard.CheckWrite(r.Path); err != nil {
			for below := err; below != nil; below = errors.Unwrap(below) {
				err = below // without the path, which the Error has
			}
			return &Error{Reason: BadPath, Path: r.Path, Err: err}
		}
		if i > 0 && p.Records[i-1].Path >= r.Path {
			return r.bad("the path is out of order")
		}
		if r.Slot < 0 || r.Slot >= len(p.Records) || slots[r.Slot] {
			return r.bad("the slot is out of range or used twice")
		}
		slots[r.Slot] = true
		byPath[r.Path] = r
		if text := r.check(); text != "" {
			return r.bad(text)
		}
	}
	return p.validateTogether(byPath)
}

func (r *Record) bad(text string) error {
	return &Error{Reason: BadRecord, Path: r.Path, Err: errors.New(text)}
}

func (p *Plan) validateHeader() error {
	clean, err := names.Clean(p.StateDir)
	switch {
	case !ValidID(p.ID):
		return fmt.Errorf("id %q", p.ID)
	case p.Restores != "" && !ValidID(p.Restores):
		return fmt.Errorf("restored id %q", p.Restores)
	case p.RunID != "" && !ValidRunID(p.RunID):
		return fmt.Errorf("run id %q", p.RunID)
	case err != nil || clean != p.StateDir || clean == ".":
		return fmt.Errorf("state directory %q", p.StateDir)
	}
	return nil
}

// check returns the fault of the record alone, "" if it has none.
func (r *Record) check() string {
	switch {
	case !validState(r.Old) || !validState(r.New):
		return "a state is impossible"
	case r.Old.Kind == change.Absent && r.New.Kind == change.Absent:
		return "there is nothing before and nothing after"
	case r.Attr && (r.Old.Kind != r.New.Kind || !disk.IsLeaf(r.Old) || r.Moved || r.Old.Hash != r.New.Hash ||
		r.Old.Target != r.New.Target):
		return "more than attributes change"
	case r.Moved && (!disk.IsLeaf(r.New) || r.From == "" || r.From == r.Path):
		return "nothing can be moved there"
	case r.Image != NoImage && r.Image != Linked && r.Image != Copied:
		return "unknown kind of before-image"
	case r.Image != NoImage && !disk.IsLeaf(r.Old):
		return "a before-image of what is not a file"
	case r.Image == NoImage && r.Old.Kind == change.File && !r.Attr:
		return "the before-image is missing"
	case r.FarDir != "" && (r.FarDir == r.Path || !names.Within(r.Path, r.FarDir)):
		return "the directory for its files is not above it"
	case r.Permanent && (disk.IsLeaf(r.New) || r.Trash), r.Trash && (r.Attr || r.Old.Kind == change.Absent):
		return "it is marked as deleted"
	}
	return ""
}

func validState(s change.State) bool {
	if s.Mode&^modes.PermBits != 0 || s.Size < 0 {
		return false
	}
	hashed, leads := s.Hash != change.Hash{}, s.Target != ""
	switch s.Kind {
	case change.Absent:
		return s == change.State{}
	case change.File:
		return hashed && !leads
	case change.Symlink:
		return leads && !hashed
	case change.Dir:
		return !leads && !hashed
	case change.Other: // such entries are never changed
	}
	return false
}

// validateTogether checks the rules that span several records.
func (p *Plan) validateTogether(byPath map[string]*Record) error {
	for i := range p.Records {
		r := &p.Records[i]
		for at := range len(r.Path) {
			if r.Path[at] != '/' {
				continue
			}
			switch above := byPath[r.Path[:at]]; {
			case above == nil:
			case r.Old.Kind != change.Absent && above.Old.Kind != change.Dir:
				return r.bad("it was below what was not a directory")
			case r.New.Kind != change.Absent && above.New.Kind != change.Dir:
				return r.bad("it would be below what is not a directory")
			}
		}
		switch from := byPath[r.From]; {
		case r.From == "":
		case from == nil:
			return r.bad("it was renamed from a path that is not in the plan")
		case r.Moved && (from.Old.Kind != r.New.Kind || from.Old.Hash != r.New.Hash || from.Old.Target != r.New.Target):
			return r.bad("it is not what was moved")
		}
	}
	return nil
}

// CheckPlace checks that the plan is where it was made: in the directory with its own id, in its state directory, and,
// if directories have identities, in the same directory. It compares the device number only if the plan is not signed,
// because some file systems get a new device number with each mount. Finally it sets the device in all identities of
// the plan to the present one. The error is an *Error.
func (p *Plan) CheckPlace(id, stateDir string, dir capability.Identity, signed bool) error {
	bad := func(format string, args ...any) error {
		return &Error{Reason: BadIdentity, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case id != p.ID:
		return bad("it is in %q, but that of %q", id, p.ID)
	case stateDir != p.StateDir:
		return bad("it is in state directory %q, but that of %q", stateDir, p.StateDir)
	case dir.Ino != p.Ino && p.Ino == 0:
		return bad(
			"it was made through a file system that does not tell directories apart; recover through one of that kind")
	case dir.Ino != p.Ino && dir.Ino == 0:
		return bad("this file system has no inode numbers; recover through the file system of the transaction")
	case dir.Ino != p.Ino:
		return bad("its directory is another one")
	case !signed && dir.Dev != p.Dev:
		return bad("its directory is on another device")
	}
	p.mount(dir.Dev)
	return nil
}

// mount changes the device in all identities.
func (p *Plan) mount(dev uint64) {
	old := p.Dev
	if p.Dev = dev; old == dev {
		return
	}
	for i := range p.Records {
		for _, s := range []*change.State{&p.Records[i].Old, &p.Records[i].New} {
			if s.ID.Dev == old && s.ID.Ino != 0 {
				s.ID.Dev = dev
			}
		}
	}
}

// Adopt changes the plan as if it had been made in its present directory. If that is another directory, everything is a
// copy, and files are recognised only by their bytes.
func (p *Plan) Adopt(dir capability.Identity) {
	if dir.Ino == p.Ino {
		p.mount(dir.Dev)
		return
	}
	p.Dev, p.Ino = dir.Dev, dir.Ino
	p.ForgetIdentities()
}

// ForgetIdentities makes all files be recognised only by their bytes.
func (p *Plan) ForgetIdentities() {
	for i := range p.Records {
		r := &p.Records[i]
		r.Old.ID, r.New.ID = capability.Identity{}, capability.Identity{}
		if r.Image == Linked {
			r.Image = Copied
		}
	}
}

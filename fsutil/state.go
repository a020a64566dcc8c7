package fsutil

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"
)

// Kind says what stands at a path.
type Kind uint8

// The kinds a path can have. Absent is the zero value.
const (
	Absent Kind = iota
	File
	Dir
	Symlink
	Other // a socket, a pipe, a device: seen, never touched
)

// String returns the lower-case name used in JSON, journals and messages.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "absent"
	case File:
		return "file"
	case Dir:
		return "dir"
	case Symlink:
		return "symlink"
	default:
		return "other"
	}
}

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts exactly the names that String returns.
func (k *Kind) UnmarshalText(text []byte) error {
	for c := Absent; c <= Other; c++ {
		if c.String() == string(text) {
			*k = c
			return nil
		}
	}
	return fmt.Errorf("unknown kind %q", text)
}

// KindOf returns the kind that a mode's type bits stand for.
func KindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return File
	case fs.ModeDir:
		return Dir
	case fs.ModeSymlink:
		return Symlink
	default:
		return Other
	}
}

// PermBits are the bits of a mode that millrace keeps and restores.
const PermBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Hash is the SHA-256 of a file's bytes. The zero Hash means unknown.
type Hash [sha256.Size]byte

// HashOf returns the hash of data.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// String returns 64 lower-case hexadecimal digits, or "" for the zero Hash.
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// MarshalText writes what String returns.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = Hash{}
		return nil
	}
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a SHA-256 has %d hexadecimal digits, got %d", hex.EncodedLen(len(h)), len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Identity tells one file of an operating system from another, and sees most changes to it without reading it. The zero
// Identity means that the file system does not say.
type Identity struct {
	Dev   uint64 `json:"dev,omitempty"`
	Ino   uint64 `json:"ino,omitempty"`
	Nlink uint64 `json:"nlink,omitempty"`
	UID   uint32 `json:"uid,omitempty"`
	GID   uint32 `json:"gid,omitempty"`
	CTime int64  `json:"ctime,omitempty"` // nanoseconds since the Unix epoch
}

// SameFile reports whether both identities are known and name one inode.
func (id Identity) SameFile(other Identity) bool {
	return id.Ino != 0 && id.Ino == other.Ino && id.Dev == other.Dev
}

// State is what stands at one path at one time: everything a commit checks before it writes and puts back when it undoes.
// The zero State means that nothing stands there.
type State struct {
	Kind    Kind        `json:"kind"`
	Mode    fs.FileMode `json:"mode,omitempty"`   // only PermBits
	Size    int64       `json:"size,omitempty"`   // bytes; of files only
	Hash    Hash        `json:"sha256,omitzero"`  // of files only
	Target  string      `json:"target,omitempty"` // of symbolic links only
	ModTime time.Time   `json:"mtime,omitzero"`
	ID      Identity    `json:"id,omitzero"`
}

// SameContent reports whether two states have equal kind, permission bits, bytes and link target. Times and identities
// are not compared. Hashes must be known for files.
func (s State) SameContent(o State) bool {
	if s.Kind != o.Kind {
		return false
	}
	switch s.Kind {
	case File:
		return s.Mode == o.Mode && s.Size == o.Size && s.Hash == o.Hash
	case Dir:
		return s.Mode == o.Mode
	case Symlink:
		return s.Target == o.Target
	default:
		return true
	}
}

package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/millrace-go/millrace/capability"
)

// Kind is the kind of file at a path.
type Kind uint8

// The kinds a path can have. Absent is the zero value.
const (
	Absent Kind = iota
	File
	Dir
	Symlink
	Other // a socket, a pipe, a device: visible, but never touched
)

// kinds has the names of the kinds, by number.
var kinds = [...]string{Absent: "absent", File: "file", Dir: "dir", Symlink: "symlink", Other: "other"}

// String returns the lower-case name used in JSON, journals and messages.
func (k Kind) String() string { return kinds[min(k, Other)] }

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts exactly the names that String returns.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kinds[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind %q", text)
	}
	*k = Kind(i)
	return nil
}

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

// MarshalText writes the text of String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the text of MarshalText.
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

// State is the file at a path at one time: everything that a commit checks before it writes, and restores when it
// undoes. The zero State means that the file does not exist.
type State struct {
	Kind    Kind                `json:"kind"`
	Mode    fs.FileMode         `json:"mode,omitempty"`   // only PermBits
	Size    int64               `json:"size,omitempty"`   // bytes; only for files
	Hash    Hash                `json:"sha256,omitzero"`  // only for files
	Target  string              `json:"target,omitempty"` // only for symbolic links
	ModTime time.Time           `json:"mtime,omitzero"`
	ID      capability.Identity `json:"id,omitzero"`
}

// SameContent reports whether two states have equal kind, permission bits, bytes and link target. Times and identities
// are not compared. Hashes of files must be known.
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

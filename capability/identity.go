package capability

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

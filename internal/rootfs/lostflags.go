package rootfs

import "github.com/millrace-go/millrace/internal/errorform"

// LostFlags lists the flags of the inode that could not be copied, although everything else was copied. Some flags
// cannot be set on a file that has bytes already.
type LostFlags struct {
	Letters string // as chattr(1) names them, such as "cC"
}

// Error names the flags.
func (e *LostFlags) Error() string { return "flags of the inode that are not kept: " + e.Letters }

// MarshalJSON returns the code, the message and the paths.
func (e *LostFlags) MarshalJSON() ([]byte, error) { return errorform.Marshal("lost_flags", e) }

package capability

import "errors"

// ErrShowsThrough says that a file system took a name away as it was told, and has something else there still that it
// cannot take away: one of layers, in which the lower one shows through, such as an afero.CopyOnWriteFs.
var ErrShowsThrough = errors.New("is still there after it was removed: a lower layer of the file system shows through")

// ErrLocked says that another executor held the lock until the wait was over.
var ErrLocked = errors.New("another run holds the lock of this tree")

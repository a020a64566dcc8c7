package fsutil

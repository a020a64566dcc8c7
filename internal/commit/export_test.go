package commit

import "github.com/millrace-go/millrace/internal/disk"

// Opened has do called with each disk that is opened.
func (o *Options) Opened(do func(*disk.Disk)) { o.opened = do }

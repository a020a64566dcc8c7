package commit

import "github.com/millrace-go/millrace/internal/disk"

// Opened sets a function that is called with each disk that is opened.
func (o *Options) Opened(do func(*disk.Disk)) { o.opened = do }

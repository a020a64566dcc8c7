package runs

import (
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/show"
)

// shown returns untrusted text in the form for messages: visible, and not too long.
func shown(text string) string {
	return fsutil.Visible(show.Short(text, 80))
}

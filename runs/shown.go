package runs

import (
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// shown returns untrusted text as messages have it: visible, and not too long.
func shown(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fsutil.Visible(text)
}

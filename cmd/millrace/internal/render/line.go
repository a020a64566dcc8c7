package render

import (
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// Line makes a text one line that a terminal shows as it is.
func Line(text string) string { return fsutil.Visible(strings.Join(strings.Fields(text), " ")) }

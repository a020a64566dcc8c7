package render

import (
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// Line converts a text to one line without control characters.
func Line(text string) string { return fsutil.Visible(strings.Join(strings.Fields(text), " ")) }

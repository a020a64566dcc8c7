package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// maxShown is how much of a name of the caller's a message repeats, in bytes.
const maxShown = 100

// shown is a name of the caller's, as a message repeats it.
func shown(name string) string {
	return fsutil.Visible(actions.Short(name, maxShown))
}

// meantName is a hint at the parameter that was meant: other tools call it so, or its name is misspelled.
func meantName(name string, properties map[string]*schema) string {
	if len(properties) == 0 {
		return ""
	}
	if meant, ok := actions.Synonym(name, slices.Collect(maps.Keys(properties))); ok {
		return fmt.Sprintf("did you mean '%s'?", meant)
	}
	if hint := nearestName(name, properties); hint != "" {
		return hint
	}
	return "the parameters are " + strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
}

// nearestName is a hint at the name that was meant, "" if none is like it.
func nearestName(name string, properties map[string]*schema) string {
	near, ok := actions.Nearest(name, slices.Collect(maps.Keys(properties)))
	if !ok {
		return ""
	}
	return fmt.Sprintf("did you mean '%s'?", near)
}

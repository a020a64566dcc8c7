package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// maxShown is how much of a caller's name a message repeats, in bytes.
const maxShown = 100

// shown returns a caller's name as a message repeats it.
func shown(name string) string {
	return fsutil.Visible(actions.Short(name, maxShown))
}

// meantName returns a hint at the intended parameter, if other tools use this name for it or the name is misspelled.
func meantName(name string, properties map[string]*schema) string {
	if len(properties) == 0 {
		return ""
	}
	if meant, ok := actions.Synonym(name, slices.Collect(maps.Keys(properties))); ok {
		return fmt.Sprintf("did you mean '%s'?", meant)
	}
	for _, whole := range []string{"pipeline_json", "definition"} {
		option, ok := actions.Synonym(name, options())
		if slices.Contains(options(), name) {
			option, ok = name, true
		}
		if ok && properties[whole] != nil {
			return fmt.Sprintf("'%s' is a field of the pipeline: set it in '%s'", option, whole)
		}
	}
	if hint := nearestName(name, properties); hint != "" {
		return hint
	}
	return "the parameters are " + strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
}

// options returns the fields of a pipeline that models often put next to the pipeline.
func options() []string {
	return []string{"name", "dry_run", "force", "verbose", "parallel", "stop_on_error", "create_backup"}
}

// nearestName returns a hint at the intended name, "" if none is similar.
func nearestName(name string, properties map[string]*schema) string {
	near, ok := actions.Nearest(name, slices.Collect(maps.Keys(properties)))
	if !ok {
		return ""
	}
	return fmt.Sprintf("did you mean '%s'?", near)
}

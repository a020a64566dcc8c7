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

// options are the fields of a pipeline that models give beside the pipeline.
func options() []string {
	return []string{"name", "dry_run", "force", "verbose", "parallel", "stop_on_error", "create_backup"}
}

// nearestName is a hint at the name that was meant, "" if none is like it.
func nearestName(name string, properties map[string]*schema) string {
	near, ok := actions.Nearest(name, slices.Collect(maps.Keys(properties)))
	if !ok {
		return ""
	}
	return fmt.Sprintf("did you mean '%s'?", near)
}

package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/synonyms"
	"github.com/millrace-go/millrace/internal/template"
)

// execMembers are the members of the data of a step that runs a command. If the value is true, a template cannot reach
// further into the member.
var execMembers = map[string]bool{
	"exit_code": true, "signal": true, "stdout": true, "stderr": true, "truncated": true,
	"changed": false, "deleted": false, "sandbox": false, "json": false,
}

// IsExecMember reports whether the data of a step that runs a command can have a member of that name.
func IsExecMember(name string) bool {
	_, ok := execMembers[name]
	return ok
}

// ExecPathProblem returns the problem of a path into the data of a command, and a hint. Both are "" if the path is
// valid.
func ExecPathProblem(a actions.Exec, path template.Path) (message, hint string) {
	if len(path) == 0 {
		return "", ""
	}
	name := path[0].Key
	scalar, ok := execMembers[name]
	names := slices.Sorted(maps.Keys(execMembers))
	switch near, isNear := synonyms.Suggest(name, names); {
	case path[0].Indexed, !ok && !isNear:
		return fmt.Sprintf("the data of a command has no '%s'", strings.TrimPrefix(path[:1].String(), ".")), "it has " +
			strings.Join(names, ", ")
	case !ok:
		return fmt.Sprintf("the data of a command has no '%s'", name), fmt.Sprintf("did you mean '%s'?", near)
	case name == "json" && (a.Format == "" || a.Format == "text"):
		return "what the command prints is not parsed", "set its format to json"
	case scalar && len(path) > 1:
		return fmt.Sprintf("'%s' of a command has nothing in it", name), ""
	}
	return "", ""
}

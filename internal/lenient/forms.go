// Package lenient repairs pipelines: what it takes to know of their form, beyond what package mend knows of any JSON.
// It also knows what a wrong name was probably meant to be, which strict decoding says in hints.
package lenient

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/params"
)

// Forms is what pipelines look like.
type Forms struct {
	// Pipeline and Step are the forms of a pipeline, whose steps are looked into when the action of each is known, and
	// of a step, whose parameters are.
	Pipeline, Step *mend.Form
	// Actions are the names of all actions, Params returns the form of the parameters of one, nil if there is no such
	// action.
	Actions []string
	Params  func(action string) *mend.Form
	// MostSteps is how many steps are looked at: those of a pipeline that has more are not.
	MostSteps int
}

// Params is what the parameters of an action look like.
func Params(fields []params.Field) *mend.Form {
	form := &mend.Form{Kind: mend.Object}
	for _, p := range fields {
		form.Fields = append(form.Fields, mend.Field{Name: p.Name, Aliases: paramAliases(p.Name), Form: paramForm(p.Type, p)})
	}
	return form
}

func paramForm(t reflect.Type, p params.Field) *mend.Form {
	ptr := reflect.PointerTo(t)
	if ptr.Implements(reflect.TypeFor[json.Unmarshaler]()) || ptr.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &mend.Form{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return paramForm(t.Elem(), p)
	case reflect.String:
		return &mend.Form{Kind: mend.Text, Enum: p.Enum}
	case reflect.Bool:
		return &mend.Form{Kind: mend.Flag}
	case reflect.Slice:
		return &mend.Form{Kind: mend.List, Elem: paramForm(t.Elem(), p)}
	case reflect.Map:
		return &mend.Form{Kind: mend.Map, Elem: paramForm(t.Elem(), p)}
	case reflect.Struct:
		return Params(p.Fields)
	default:
		return &mend.Form{Kind: mend.Number}
	}
}

// paramAliases are the names that other tools give a parameter. Of two parameters that share one, neither has it.
func paramAliases(name string) []string {
	switch name {
	case "old_text":
		return []string{"old_string", "old_str", "old", "search", "search_text", "find", "find_text"}
	case "new_text":
		return []string{"new_string", "new_str", "new", "replace", "replace_text", "replace_with", "replacement"}
	case "old_str":
		return []string{"old_text", "old_string", "old", "search", "find"}
	case "new_str":
		return []string{"new_text", "new_string", "new", "replace", "replace_with", "replacement"}
	case "replacement":
		return []string{"replace", "replace_with", "new_text", "new_string"}
	case "pattern":
		return []string{"regex", "regexp", "query", "search", "search_text"}
	case "edits":
		return []string{"replacements", "changes"}
	case "patterns":
		return []string{"transforms", "rules", "replacements"}
	case "files":
		return []string{"file", "file_path", "file_paths", "path", "paths"}
	case "path":
		return []string{"file", "file_path", "dir", "directory", "root", "folder"}
	case "file_types":
		return []string{"extensions", "exts"}
	case "include":
		return []string{"glob", "globs", "include_globs", "include_patterns"}
	case "exclude":
		return []string{"exclude_globs", "exclude_patterns", "excludes"}
	case "exclude_patterns":
		return []string{"exclude", "excludes", "exclude_globs"}
	case "destination":
		return []string{"dest", "dst", "target", "target_dir", "destination_dir", "to_dir"}
	case "ignore_case":
		return []string{"case_insensitive"}
	case "start_line", "start":
		return []string{"start", "start_line", "from_line", "line_start"}
	case "end_line", "end":
		return []string{"end", "end_line", "to_line", "line_end"}
	case "content", "file_text":
		return []string{"content", "file_text", "contents", "text"}
	}
	return nil
}

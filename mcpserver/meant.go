package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace/actions"
)

// meaning corrects arguments that the schema refuses but whose meaning is clear: names of other tools, and values in
// another form. Each repair is a warning. Ambiguous values are kept, and refused later.
type meaning struct{ warnings []string }

func (m *meaning) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.warnings, text) {
		m.warnings = append(m.warnings, text)
	}
}

// meant returns the corrected arguments of a tool, with the warnings. Arguments that match the schema are not changed.
func (t tool) meant(args json.RawMessage) (json.RawMessage, []string) {
	problems := t.input.check(args)
	if len(problems) == 0 {
		return args, nil
	}
	for _, p := range problems {
		if p.Code == "duplicate_field" || p.Code == "invalid_json" || p.Code == "too_many_problems" {
			return args, nil
		}
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || object == nil {
		return args, nil
	}
	var m meaning
	if shape := shapes()[t.name]; shape != nil {
		shape(&m, object)
	}
	m.object(t.input, object)
	if mode := modes()[t.name]; mode != nil {
		mode(&m, object)
	}
	if len(m.warnings) == 0 {
		return args, nil
	}
	text, err := plainJSON(object)
	if err != nil {
		return args, nil
	}
	return text, m.warnings
}

// object renames the fields of an object to the names in the schema, at every level.
func (m *meaning) object(s *schema, object map[string]any) {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if s.Properties[name] != nil {
			continue
		}
		near, ok := actions.Synonym(name, names)
		if _, taken := object[near]; !ok || taken {
			continue
		}
		m.warn("'%s' was read as '%s'", shown(name), near)
		object[near] = object[name]
		delete(object, name)
	}
	for _, name := range names {
		if v, given := object[name]; given {
			object[name] = m.value(s.Properties[name], name, v)
		}
	}
}

// value converts a value to the form that the schema requires.
func (m *meaning) value(s *schema, name string, v any) any {
	texts := slices.Equal(s.Type, types{"array"}) && s.Items != nil && slices.Equal(s.Items.Type, types{"string"})
	if text, ok := v.(string); ok && texts {
		m.warn("'%s' was read as a list of one", name)
		v = []any{text}
	}
	switch v := v.(type) {
	case string:
		if len(s.Enum) == 0 || slices.Contains(s.Enum, v) {
			return v
		}
		if known, ok := actions.Synonym(v, s.Enum); ok {
			m.warn("%s '%s' was read as '%s'", name, shown(v), known)
			return known
		}
	case map[string]any:
		if s.Properties != nil {
			m.object(s, v)
		}
	case []any:
		if s.Items != nil {
			for i := range v {
				v[i] = m.value(s.Items, name, v[i])
			}
		}
	}
	return v
}

// shapes returns, by tool, functions for arguments whose object has another shape than the schema.
func shapes() map[string]func(*meaning, map[string]any) {
	pipeline := func(m *meaning, object map[string]any) {
		if _, steps := object["steps"]; !steps || object["pipeline_json"] != nil {
			return
		}
		m.warn("the arguments were read as 'pipeline_json'")
		whole := maps.Clone(object)
		for _, own := range []string{"diff", "max_bytes"} {
			delete(whole, own)
		}
		maps.DeleteFunc(object, func(name string, _ any) bool { _, inner := whole[name]; return inner })
		object["pipeline_json"] = whole
	}
	return map[string]func(*meaning, map[string]any){
		"batch_operations": pipeline, "plan_pipeline": pipeline, "fs_read": readShape, "fs_write": writeShape,
	}
}

// leaveOut removes arguments that other tools use for people or for a check of their own.
func (m *meaning) leaveOut(object map[string]any, names ...string) {
	for _, name := range names {
		if _, given := object[name]; given {
			m.warn("'%s' was left out: it changes nothing", name)
			delete(object, name)
		}
	}
}

// readShape converts ranges and switches of other tools.
func readShape(m *meaning, object map[string]any) {
	if view, ok := object["view_range"].([]any); ok && len(view) == 2 && object["start_line"] == nil {
		m.warn("'view_range' was read as 'start_line' and 'end_line'")
		object["start_line"], object["end_line"] = view[0], view[1]
		delete(object, "view_range")
	}
	for _, name := range []string{"head", "tail"} {
		n, ok := object[name].(json.Number)
		count, err := n.Int64()
		if !ok || err != nil || count <= 0 || object["start_line"] != nil || object["end_line"] != nil {
			continue
		}
		if name == "head" {
			m.warn("'head' was read as 'end_line'")
			object["end_line"] = count
		} else {
			m.warn("'tail' was read as 'start_line'")
			object["start_line"] = -count
		}
		delete(object, name)
	}
	if object["mode"] == modeDirectory && object["recursive"] == true && object["depth"] == nil {
		m.warn("'recursive' was read as 'depth'")
		object["depth"] = -1
		delete(object, "recursive")
	}
	m.leaveOut(object, "explanation")
	switches := map[string]bool{
		"-n": true, "-i": true, "case_sensitive": false, "should_read_entire_file": true, "recursive": true,
	}
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		if object[name] == switches[name] {
			m.warn("'%s' was left out: it is so in any case", name)
			delete(object, name)
		}
	}
	for _, name := range []string{"-C", "-A", "-B"} {
		if n, given := object[name]; given && object["context_lines"] == nil {
			m.warn("'%s' was read as 'context_lines'", name)
			object["context_lines"] = n
			delete(object, name)
		}
	}
}

// writeShape converts a list of edits of one file, and the source of a move.
func writeShape(m *meaning, object map[string]any) {
	m.leaveOut(object, "explanation", "line_count")
	if from, given := object["source"]; given && object["path"] == nil {
		m.warn("'source' was read as 'path'")
		object["path"] = from
		delete(object, "source")
	}
	edits, ok := object["edits"].([]any)
	if !ok || object["fileEdits"] != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if near, _ := actions.Synonym(name, []string{"path"}); near == "path" {
			m.warn("'edits' were read as 'fileEdits'")
			object["fileEdits"] = []any{map[string]any{"path": object[name], "edits": edits}}
			delete(object, name)
			delete(object, "edits")
			return
		}
	}
}

// modes returns, by tool, functions that infer a missing argument from the names of the others.
func modes() map[string]func(*meaning, map[string]any) {
	return map[string]func(*meaning, map[string]any){"fs_read": func(m *meaning, object map[string]any) {
		if object["mode"] != nil {
			return
		}
		mode := modeLine
		switch {
		case object["image_paths"] != nil:
			mode = modeImage
		case object["pattern"] != nil:
			mode = modeSearch
		case object["depth"] != nil:
			mode = modeDirectory
		case object["path"] == nil && object["paths"] == nil:
			return
		}
		m.warn("'mode' is missing: '%s' is used", mode)
		object["mode"] = mode
	}}
}

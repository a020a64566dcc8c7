package main

import (
	"encoding/json"
	"fmt"
)

// object is a JSON object.
type object = map[string]any

// encode writes a pipeline as JSON, as a user's program would send it.
func encode(steps ...object) string {
	data, err := json.Marshal(object{"name": "bench", "force": true, "steps": steps})
	if err != nil {
		panic(err) // maps of strings, numbers and flags can always be encoded
	}
	return string(data)
}

// searching is a step that searches a whole tree.
func searching(pattern, mode string, ignoreCase, noIgnore bool) object {
	return object{"id": "find", "action": "search", "params": object{
		"pattern": pattern, "mode": mode, "ignore_case": ignoreCase, "no_ignore": noIgnore,
	}}
}

// replacing returns a pipeline that finds a text, replaces it in all found files, and counts the new text.
func replacing(from, to string) string {
	return encode(
		searching(from, "literal", false, true),
		object{"id": "fix", "action": "edit", "input_from": "find", "params": object{"old_text": from, "new_text": to}},
		object{"id": "left", "action": "count_occurrences", "input_from": "find", "params": object{"pattern": to}},
	)
}

// replacingIn is a pipeline that replaces a text in one file.
func replacingIn(file, from, to string) string {
	return encode(object{"id": "fix", "action": "edit",
		"params": object{"files": []string{file}, "old_text": from, "new_text": to}})
}

// countingIn is a pipeline that counts a text in one file.
func countingIn(file, text string) string {
	return encode(object{"id": "count", "action": "count_occurrences",
		"params": object{"files": []string{file}, "pattern": text}})
}

// turns returns a pipeline that searches, and then makes a number of edits in all found files, forth and back.
func turns(from, to string, edits int) string {
	steps := []object{searching(from, "literal", false, true)}
	for i := range edits {
		steps = append(steps, object{
			"id": fmt.Sprintf("edit%d", i), "action": "edit", "input_from": "find",
			"params": object{"old_text": from, "new_text": to},
		})
		from, to = to, from
	}
	return encode(steps...)
}

package bounds_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cases are pipelines by name.
var cases = map[string]generated{
	"deletion of ten million letters":       {Shape: "letters in ten files", Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "a", "new_text": ""}`, "edit")},
	"replacement of ten million letters":    {Shape: "letters in ten files", Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "a", "new_text": "b"}`, "edit")},
	"deletion in twenty steps":              {Shape: "letters in ten files", Deadline: 20 * time.Second, Pipeline: many(20, `{"id": "e%d", "action": "edit", "input_from": "s", "params": {"old_text": "a", "new_text": "b"}}`)},
	"every other letter, twenty steps":      {Shape: "letters in ten files", Deadline: 20 * time.Second, Pipeline: many(19, `{"id": "e%d", "action": "edit", "input_from": "s", "params": {"old_text": "aa", "new_text": "a"}}`)},
	"newlines doubled":                      {Shape: "newlines in a hundred files", Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "\n", "new_text": "\n\n"}`, "edit")},
	"newlines doubled on disk":              {Shape: "newlines in a hundred files", OnDisk: true, Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "\n", "new_text": "\n\n"}`, "edit")},
	"sed doubles all lines":                 {Shape: "words", Planned: true, Deadline: 20 * time.Second, Pipeline: many(19, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "*", "sed_pattern": "s/.*/&&/"}}`)},
	"sed doubles one line":                  {Shape: "line", Deadline: 20 * time.Second, Pipeline: many(19, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "*", "sed_pattern": "s/.*/&&/"}}`)},
	"lines of newlines":                     {Shape: "newlines", Deadline: 20 * time.Second, Pipeline: many(19, `{"id": "e%d", "action": "search", "params": {"pattern": "(?m)^$", "mode": "regex", "lines": true}}`)},
	"sequential edits of newlines":          {Shape: "newlines in a hundred files", Deadline: 20 * time.Second, Pipeline: all(`{"edits": [{"old_text": "\n", "new_text": "a\n"}, {"old_text": "a", "new_text": "b"}, {"old_text": "b", "new_text": ""}]}`, "multi_edit")},
	"simultaneous edits of newlines":        {Shape: "newlines in a hundred files", Deadline: 20 * time.Second, Pipeline: all(`{"mode": "simultaneous", "edits": [{"old_text": "\n", "new_text": "a\n"}]}`, "multi_edit")},
	"copies of all, and copies of those":    {Shape: "words", Planned: true, Deadline: 20 * time.Second, Pipeline: copies(18)},
	"copies of all, and copies, on disk":    {Shape: "words", OnDisk: true, Planned: true, Deadline: time.Second, Pipeline: copies(18)},
	"replacement that grows to the limit":   {Shape: "letters", Planned: true, Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "a{20}", "mode": "regex", "new_text": "$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0"}`, "edit")},
	"large plan of small files":             {Shape: "wide", Planned: true, Deadline: 20 * time.Second, Pipeline: all(`{"old_text": "a", "new_text": "bb", "binary": true}`, "edit")},
	"two alike, compared":                   {Shape: "two alike", Planned: true, Deadline: 20 * time.Second, Pipeline: many(19, `{"id": "e%d", "action": "diff", "params": {"file_a": "f0.txt", "file_b": "f1.txt", "context": 1000}}`)},
	"two alike, one written over the other": {Shape: "two alike", Planned: true, Deadline: 300 * time.Millisecond, Pipeline: []byte(`{"name": "hostile", "force": true, "steps": [{"id": "c", "action": "copy", "params": {"files": ["f0.txt"], "to": "f1.txt", "overwrite": true}}]}`)},
	"preview of a script, cut short":        {Shape: "two alike", Planned: true, Deadline: 700 * time.Millisecond, Pipeline: many(1, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "*", "sed_pattern": "s/[0-4]/&&/"}}`)},
	"lines printed four times, cut short":   {Shape: "words", OnDisk: true, Planned: true, Deadline: 2 * time.Second, Pipeline: many(1, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "**", "binary": true, "on_error": "continue", "syntax": "bre", "sed_pattern": "p;p;p;p"}}`)},
	"comparison, cut short":                 {Shape: "two alike", Deadline: 200 * time.Millisecond, Pipeline: many(19, `{"id": "e%d", "action": "diff", "params": {"file_a": "f0.txt", "file_b": "f1.txt", "context": 0}}`)},
	"nearest lines, cut short":              {Shape: "words", Deadline: 200 * time.Millisecond, Pipeline: many(19, `{"id": "e%d", "action": "edit_files", "params": {"on_error": "continue", "file_edits": [{"path": "f0.txt", "edits": [{"command": "str_replace", "old_str": "foo bar\nnever there\nthe const\n", "new_str": "x"}, {"command": "str_replace", "old_str": "  const let aaaaaaaaaa never", "new_str": "x"}]}]}}`)},
	"twenty thousand names, cut short":      {Shape: "wide", Deadline: 500 * time.Millisecond, Pipeline: all(`{"to": "new/{{stem}}/{{name}}"}`, "rename")},
	"twenty thousand names on disk":         {Shape: "wide", OnDisk: true, Deadline: 1500 * time.Millisecond, Pipeline: all(`{"to": "new/{{stem}}/{{name}}"}`, "rename")},
	"twenty thousand files deleted":         {Shape: "wide", Deadline: 300 * time.Millisecond, Pipeline: all(`{}`, "delete")},
	"twenty thousand edits, cut short":      {Shape: "wide", OnDisk: true, Deadline: 2500 * time.Millisecond, Pipeline: all(`{"old_text": "foo", "new_text": "b", "binary": true}`, "edit")},
	"ten million lines against few":         {Shape: "newlines", Deadline: 300 * time.Millisecond, Pipeline: many(2, `{"id": "e%d", "action": "diff", "params": {"file_a": "f0.txt", "file_b": "f2.txt"}}`)},
	"sed multiplies letters, ten files":     {Shape: "letters in ten files", Deadline: 4 * time.Second, Pipeline: many(2, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "*", "sed_pattern": ["p", "s/a/\\\\U&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&/g", "s/A/&&/g", "s/.*/&&/"]}}`)},
	"preview of newlines, cut short":        {Shape: "newlines in a hundred files", Planned: true, Deadline: 2 * time.Second, Pipeline: many(1, `{"id": "e%d", "action": "pattern_replace", "params": {"file_pattern": "**", "sed_pattern": "p"}}`)},
	"copies far down, cut short":            {Shape: "many", OnDisk: true, Deadline: 300 * time.Millisecond, Pipeline: all(`{"destination": "n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/n/"}`, "copy")},
	"templates too long in many visits":     {Shape: "words", OnDisk: true, Deadline: 2 * time.Second, Pipeline: []byte(`{"name": "hostile", "steps": [{"id": "d", "action": "diff", "params": {"file_a": "f0.txt", "file_b": "f1.txt"}}, {"id": "e", "action": "edit", "input_from": "d", "max_visits": 28, "retry_if": [{"step": "e", "keyword": "failed"}], "params": {"old_text": " ", "new_text": "` + repeat("{{d.aggregated_content}}", 9) + `"}}]}`)},
	"hunk that nearly fits everywhere":      {Shape: "crlf", Deadline: 100 * time.Millisecond, Pipeline: patching(repeat(" a b\n", 500)+"-never there\n", `"tolerance": "indent", "fuzz": 3`)},
	"hunk that fits everywhere":             {Shape: "crlf", Planned: true, Deadline: 20 * time.Second, Pipeline: patching(repeat(" a b\n", 500)+"-a b\n", `"fuzz": 3`)},
	"few lines against ten million":         {Shape: "newlines", Deadline: 20 * time.Second, Pipeline: many(1, `{"id": "e%d", "action": "diff", "params": {"file_a": "f2.txt", "file_b": "f0.txt"}}`)},

	"files renamed again and again":        {Shape: "wide", Planned: true, Deadline: 20 * time.Second, Pipeline: chain(19, `{"id": "e%[1]d", "action": "rename", "input_from": "%[2]s", "params": {"destination": "n%[1]d"}}`)},
	"files edited again and again":         {Shape: "wide", Planned: true, Deadline: 20 * time.Second, Pipeline: chain(19, `{"id": "e%[1]d", "action": "edit", "input_from": "%[2]s", "params": {"old_text": "\\A(?s:.)", "mode": "regex", "new_text": "%[1]d"}}`)},
	"copies of files with long names":      {Shape: "long names", Planned: true, Deadline: 20 * time.Second, Pipeline: chain(12, `{"id": "e%[1]d", "action": "copy", "input_from": "s", "params": {"destination": "n%[1]d"}}`)},
	"long names, and ranges not in a file": {Shape: "long names", Planned: true, Deadline: 20 * time.Second, Pipeline: chain(19, `{"id": "e%[1]d", "action": "read_ranges", "input_from": "s", "params": {"start_line": 99999, "on_error": "continue"}}`)},
	"long names, and edits that overlap":   {Shape: "long names", Planned: true, Deadline: 20 * time.Second, Pipeline: chain(19, `{"id": "e%[1]d", "action": "multi_edit", "input_from": "s", "params": {"mode": "simultaneous", "edits": [{"old_text": "a", "new_text": "b"}, {"old_text": "a\n", "new_text": "c"}], "on_error": "continue"}}`)},
	"long names, and files that are gone": {Shape: "long names", Planned: true, Deadline: 20 * time.Second, Pipeline: []byte(strings.Replace(string(chain(18, `{"id": "e%[1]d", "action": "read_ranges", "params": {"files": "{{s.files}}", "on_error": "continue"}}`)),
		`, {"id": "e0"`, `, {"id": "d", "action": "delete", "input_from": "s"}, {"id": "e0"`, 1))},
}

// chain returns n steps after a step that finds the names of all files; a step can refer to the previous one with
// %[2]s.
func chain(n int, step string) []byte {
	text := `{"name": "hostile", "force": true, "steps": [{"id": "s", "action": "search", "params": {"pattern": "never there", "without_match": true}}`
	before := "s"
	for i := range n {
		text += ", " + fmt.Sprintf(step, i, before)
		before = fmt.Sprintf("e%d", i)
	}
	return []byte(text + "]}")
}

// all returns a step on all found files.
func all(params, action string) []byte {
	return []byte(fmt.Sprintf(`{"name": "hostile", "force": true, "steps": [{"id": "s", "action": "list", "params": {"depth": -1}},
		{"id": "e", "action": %q, "input_from": "s", "params": %s}]}`, action, params))
}

// patching returns a patch of f0.txt with thirty hunks of the same lines.
func patching(lines, params string) []byte {
	n := strings.Count(lines, "\n")
	hunk := fmt.Sprintf("@@ -5000000,%d +5000000,%d @@\n%s", n, n-1, lines)
	return []byte(fmt.Sprintf(`{"name": "hostile", "force": true, "steps": [{"id": "p", "action": "patch", "params": {"patch": %q, %s}}]}`,
		"--- a/f0.txt\n+++ b/f0.txt\n"+repeat(hunk, 30), params))
}

// many returns n steps, after a step that finds all files.
func many(n int, step string) []byte {
	text := `{"name": "hostile", "force": true, "steps": [{"id": "s", "action": "list", "params": {"depth": -1}}`
	for i := range min(n, 19) {
		text += ", " + fmt.Sprintf(step, i)
	}
	return []byte(text + "]}")
}

// copies returns n steps that each double the tree.
func copies(n int) []byte {
	text := `{"name": "hostile", "force": true, "steps": [`
	for i := range n / 2 {
		text += fmt.Sprintf(`{"id": "s%d", "action": "search", "params": {"pattern": "a"}}, {"id": "c%d", "action": "copy", "input_from": "s%d", "params": {"destination": "new%d", "preserve_paths": true}}, `, i, i, i, i)
	}
	return []byte(text[:len(text)-2] + "]}")
}

// named returns a pipeline by its name or its seed.
func named(name string) (generated, error) {
	if g, ok := cases[name]; ok {
		return g, nil
	}
	seed, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return generated{}, err
	}
	return generate(seed), nil
}

package yamlform_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/yamlform"
)

const inJSON = `{
  "name": "modernise", "dry_run": true, "max_attempts": 7, "deadline_seconds": 1.5,
  "variables": {"old": "ioutil", "n": {"type": "number", "default": 3, "description": "how many"}},
  "steps": [
    {"id": "find", "action": "search", "params": {"pattern": "{{vars.old}}.ReadFile", "mode": "literal", "file_types": [".go"]}},
    {"id": "fix", "action": "multi_edit", "input_from": "find", "expect": {"min_edits": 1},
     "params": {"edits": [{"old_text": "a\n\tb\n", "new_text": "yes"}, {"old_text": "two  \nlines", "new_text": ""}]}},
    {"id": "left", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "012"}},
    {"id": "note", "action": "edit", "condition": {"type": "count_gt", "step_ref": "left", "value": 0},
     "params": {"files": ["TODO.md"], "old_text": "# To do\n", "new_text": "\t{{left.count}} uses of ☃ in {{find.files}}\n"}}
  ]
}`

const inYAML = `# What the change is for can be said here.
name: modernise
dry_run: true
max_attempts: 7
deadline_seconds: 1.5
variables:
  old: ioutil
  n: {type: number, default: 3, description: how many}
steps:
- id: find     # a comment
  action: search
  params: {pattern: '{{vars.old}}.ReadFile', mode: literal, file_types: [.go]}
- id: fix
  action: multi_edit
  input_from: find
  expect: {min_edits: 1}
  params:
    edits:
      - old_text: |
          a
          	b
        new_text: yes

      # of the second
      - {old_text: "two  \nlines", new_text: ''}
- id: left
  action: count_occurrences
  input_from: find
  params:
    pattern: "012"
- id: note
  action: edit
  condition: {type: count_gt, step_ref: left, value: 0}
  params:
    files: [TODO.md]
    old_text: |
      # To do
    new_text: "\t{{left.count}} uses of ☃ in {{find.files}}\n"
`

// A pipeline has the same value in both forms, in every style.
func TestSameAsJSON(t *testing.T) {
	t.Parallel()
	want, err := millrace.Decode([]byte(inJSON))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yamlform.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"YAML": inYAML, "JSON is YAML": inJSON, "encoded": string(encoded),
		"CRLF": strings.ReplaceAll(inYAML, "\n", "\r\n"), "BOM": "\ufeff" + inYAML, "document marks": "---\n" + inYAML + "...\n",
		"version": "\ufeff# of a file\n%YAML 1.2\n---\n" + inYAML, "older version": "%YAML 1.1\r\n---\r\n" + inYAML,
	} {
		got, err := yamlform.Decode(millrace.Decoder{}, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !got.Equal(want) {
			t.Errorf("%s: another pipeline", name)
		}
	}
	if got, err := yamlform.Decode(millrace.Decoder{}, []byte(strings.ReplaceAll(inYAML, "yes", "no"))); err != nil || got.Equal(want) {
		t.Errorf("a pipeline that differs is equal (%v)", err)
	}
}

// Each problem has its place in the YAML text. testdata/problems has texts and their problems.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/problems/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = yamlform.Decode(millrace.Decoder{}, text)
		var got strings.Builder
		for _, p := range problems(t, err) {
			fmt.Fprintf(&got, "%d:%d %s %s %s\n", p.Line, p.Column, p.Code, p.Pointer, p.Step)
			fmt.Fprintf(&got, "    %s\n", p)
		}
		golden := strings.TrimSuffix(file, ".yaml") + ".txt"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s: -want +got\n%s", file, diff)
		}
	}
}

func problems(t *testing.T, err error) []millrace.Problem {
	t.Helper()
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatalf("no *ValidationError: %v", err)
	}
	return invalid.Problems
}

// The type of a scalar as the value of a variable.
func TestScalars(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "Off": `"Off"`, "y": `"y"`, "true": "true", "false": "false",
		"1": "1", "-1": "-1", "0": "0", "1.5": "1.5", "1e3": "1e3", "-0.0": "-0.0", "123456789012": "123456789012",
		"1.2.3": `"1.2.3"`, "10s": `"10s"`, "12:30": `"12:30"`, "12:30:45": `"12:30:45"`, "0x": `"0x"`, "1_000x": `"1_000x"`,
		"a b": `"a b"`, "'012'": `"012"`, `"\x41"`: `"A"`, "''": `""`, "!!str 012": `"012"`, "!!str": `""`, "a#b": `"a#b"`, "a #b": `"a"`,
		"inf": `"inf"`, "nan": `"nan"`, "NaN": `"NaN"`, "-": "", "[1, a]": `[1, "a"]`, "http://x": `"http://x"`,
		"012": "", "0x1F": "", "0o17": "", "0b11": "", "1_000": "", "+5": "", ".5": "", "5.": "", ".inf": "", "-.inf": "", ".nan": "", "0123.4": "", "08": "",
		"2024-01-01": "", "2024-01-01T10:00:00Z": "", "True": "", "FALSE": "", "1e400": "", "1e-400": "", "NULL": "", "Null": "", "<<": "",
		"!!int 5": "", "!!binary aGk=": "", "!own x": "", "! x": "", "!!set {a}": "", "&a x": "", "*a": "", "{{a}}": "",
	} {
		got, err := yamlform.Decode(millrace.Decoder{}, fmt.Appendf(nil, "name: n\nvariables:\n  v: %s\nsteps: [{id: a, action: search, params: {pattern: x}}]\n", text))
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", text)
			} else if p := problems(t, err)[0]; p.Line != 3 || !strings.HasPrefix(p.Code, "yaml_") {
				t.Errorf("%s: line %d, %s", text, p.Line, p.Code)
			}
			continue
		}
		same, wrong := millrace.Decode(fmt.Appendf(nil, `{"name": "n", "variables": {"v": %s}, "steps": [{"id": "a", "action": "search", "params": {"pattern": "x"}}]}`, want))
		if (err == nil) != (wrong == nil) || err == nil && !got.Equal(same) {
			t.Errorf("%s is not %s: %v, %v", text, want, err, wrong)
		}
	}
}

// A repair has its place in the YAML, under every name.
func TestPlacesOfRepairs(t *testing.T) {
	t.Parallel()
	const text = "name: x\nsteps:\n  - id: e\n    action: edit\n    params:\n      file: a.txt\n      old: o\n      nw_text: n\n"
	lenient := millrace.Decoder{Lenient: true}
	p, err := yamlform.Decode(lenient, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, w := range p.Warnings() {
		lines = append(lines, w.Line)
	}
	if diff := cmp.Diff([]int{6, 7, 8, 6}, lines); diff != "" {
		t.Errorf("-want +got\n%s\n%v", diff, p.Warnings())
	}
	_, err = yamlform.Decode(lenient, []byte(text+"      mod: regx\n"))
	if got := problems(t, err); len(got) != 1 || got[0].Line != 9 || got[0].Column != 12 {
		t.Errorf("%+v", got)
	}
}

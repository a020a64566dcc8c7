package params_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

func TestSchema(t *testing.T) {
	type example struct {
		Pattern string         `json:"pattern" param:"required" doc:"What to look for."`
		New     string         `json:"new_text" param:"required,empty"`
		Mode    mode           `json:"mode" enum:"auto,literal"`
		Files   []string       `json:"files" param:"required" doc:"The files."`
		Line    int            `json:"line,omitempty"`
		Port    uint16         `json:"port"`
		Small   *int8          `json:"small"`
		Whole   bool           `json:"whole"`
		Edits   []pair         `json:"edits"`
		Vars    map[string]int `json:"vars"`
		Level   level          `json:"level"`
		Extra   json.RawMessage
		Opt     lineRange `json:"opt"`
		Host    func()    `json:"-"`
	}
	const template = `{"pattern": "\\{\\{", "type": "string"}`
	const want = `{
		"type": "object",
		"additionalProperties": false,
		"required": ["pattern", "new_text", "files"],
		"properties": {
			"pattern": {"type": "string", "description": "What to look for.", "minLength": 1},
			"new_text": {"type": "string"},
			"mode": {"anyOf": [{"enum": ["auto", "literal"]}, ` + template + `], "default": "auto"},
			"files": {"anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, ` + template + `], "description": "The files."},
			"line": {"anyOf": [{"type": "integer"}, ` + template + `]},
			"port": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 65535}, ` + template + `], "default": 80},
			"small": {"anyOf": [{"type": "integer", "minimum": -128, "maximum": 127}, ` + template + `]},
			"whole": {"anyOf": [{"type": "boolean"}, ` + template + `]},
			"edits": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["old_text", "new_text"], "properties": {
				"old_text": {"type": "string", "minLength": 1},
				"new_text": {"type": "string"},
				"kind": {"anyOf": [{"enum": ["first", "all"]}, ` + template + `]}
			}}},
			"vars": {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, ` + template + `]}, "default": {"a": 1}},
			"level": {"type": "string", "default": "high"},
			"Extra": {},
			"opt": {"type": "object", "additionalProperties": false, "required": ["start"], "properties": {
				"start": {"anyOf": [{"type": "integer"}, ` + template + `]},
				"end": {"anyOf": [{"type": "integer"}, ` + template + `], "default": -1}
			}}
		}
	}`
	proto := example{Pattern: "not shown: it is required", Mode: "auto", Port: 80, Vars: map[string]int{"a": 1}, Level: 2, Opt: lineRange{End: -1}}
	data, err := json.Marshal(params.Schema(proto))
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, _ := json.Marshal(params.Schema((*example)(nil))); len(again) >= len(data) {
		t.Error("a nil pointer has defaults")
	}
	// Changing the schema changes nothing else.
	schema := params.Schema(proto)
	clear(schema["properties"].(map[string]any))
	if again, _ := json.Marshal(params.Schema(proto)); string(again) != string(data) {
		t.Error("a schema shares memory with the next")
	}
}

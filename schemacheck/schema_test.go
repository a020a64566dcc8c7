package schemacheck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/tool"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("../docs/pipeline.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("pipeline.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("pipeline.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// pipelines returns the JSON of all pipelines in the project: example files, scenarios, and code blocks of the docs.
func pipelines(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for _, pattern := range []string{"../examples/*/*.json", "../testdata/run/*.txtar", "../docs/*.md", "../README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch filepath.Ext(file) {
			case ".json":
				all[file] = data
			case ".txtar":
				_, rest, ok := strings.Cut(string(data), "-- pipeline.json --\n")
				if !ok {
					t.Errorf("%s has no pipeline", file)
				}
				text, _, _ := strings.Cut(rest, "\n-- ")
				if _, err := millrace.Decode([]byte(text)); err != nil && strings.Contains(rest, "\n-- error --\n") {
					continue // it is there to be refused, in ways that a schema need not know
				}
				all[file] = []byte(text)
			case ".md":
				for i, block := range strings.Split(string(data), "```json\n")[1:] {
					text, _, _ := strings.Cut(block, "```")
					if strings.Contains(text, `"steps"`) && strings.Contains(text, `"name"`) {
						all[file+" block "+string(rune('0'+i))] = []byte(text)
					}
				}
			}
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d pipelines found", len(all))
	}
	return all
}

// TestEveryPipelineIsValid: what the decoder takes the schema takes, for every pipeline of the project.
func TestEveryPipelineIsValid(t *testing.T) {
	s := schema(t)
	for name, data := range pipelines(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := millrace.Decode(data); err != nil {
				t.Errorf("decoder: %v", err)
			}
			if err := valid(t, s, data); err != nil {
				t.Errorf("schema: %v", err)
			}
		})
	}
}

// TestBothTake: both spellings of what has two, and the ends of all ranges.
func TestBothTake(t *testing.T) {
	s := schema(t)
	const first = `{"name":"p","max_attempts":200,"steps":[{"id":"f","action":"read_ranges","input":"previous","max_visits":2,"condition":"prev.error"},`
	for _, fields := range []string{
		`"retry_if":{"f":"x","a":"y"}`, `"retry_if":{}`, `"retry_if":[]`,
		`"retry_if":[{"step":"f","keyword":"x","restart":true},{"step":"a","when":"prev.error"},{"step":"f","when":{"type":"step_failed","step_ref":"a"}}]`,
		`"retry_if":[{"step":"f","when":{"type":"prev_error"}}],"condition":{"type":"prev_error"}`,
		`"retry_if":{"f":"x"},"max_retries":0,"timeout":0.001,"backoff":0,"on_fail":"z","next":"z"`,
		`"retry_if":{"f":"x"},"max_retries":100,"timeout":86400,"backoff":3600`,
	} {
		text := []byte(first + `{"id":"a","action":"search","params":{"pattern":"x"},` + fields + `},{"id":"z","action":"fail","params":{"message":"m"}}]}`)
		if !strings.Contains(fields, `"f"`) { // nothing leads back to it
			text = bytes.Replace(text, []byte(`"max_visits":2,`), nil, 1)
		}
		if _, err := millrace.Decode(text); err != nil {
			t.Errorf("%s: the decoder: %v", fields, err)
		}
		if err := valid(t, s, text); err != nil {
			t.Errorf("%s: the schema: %v", fields, err)
		}
	}
}

// TestBothTakeBounds: what a pipeline may say of its runs as a whole.
func TestBothTakeBounds(t *testing.T) {
	s := schema(t)
	for _, fields := range []string{
		`"deadline_seconds":0.001`, `"deadline_seconds":604800`, `"budget":0.000001`, `"budget":{"usd":3,"files":1,"edits":1,"bytes":1}`,
		`"budget":{"bytes":9007199254740993}`, `"classification":"` + strings.Repeat("é", 255) + `"`,
	} {
		text := []byte(`{"name":"p",` + fields + `,"steps":[{"id":"f","action":"search","params":{"pattern":"x"}}]}`)
		if _, err := millrace.Decode(text); err != nil {
			t.Errorf("%s: the decoder: %v", fields, err)
		}
		if err := valid(t, s, text); err != nil {
			t.Errorf("%s: the schema: %v", fields, err)
		}
	}
}

// TestBothRefuse: what is structurally wrong is refused by the schema and by the decoder.
func TestBothRefuse(t *testing.T) {
	s := schema(t)
	const find = `{"id":"f","action":"search","params":{"pattern":"x"}}`
	on := func(fields string) string {
		return `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","params":{"pattern":"x"},` + fields + `}]}`
	}
	whole := func(fields string) string { return `{"name":"p",` + fields + `,"steps":[` + find + `]}` }
	for name, text := range map[string]string{
		"no name":               `{"steps":[` + find + `]}`,
		"empty name":            `{"name":"","steps":[` + find + `]}`,
		"no steps":              `{"name":"p"}`,
		"empty steps":           `{"name":"p","steps":[]}`,
		"21 steps":              `{"name":"p","steps":[` + strings.Repeat(find+",", 20) + find + `]}`,
		"bad id":                `{"name":"p","steps":[{"id":"a b","action":"search","params":{"pattern":"x"}}]}`,
		"unknown action":        `{"name":"p","steps":[{"id":"a","action":"serach","params":{"pattern":"x"}}]}`,
		"unknown param":         `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x","patern":"y"}}]}`,
		"missing param":         `{"name":"p","steps":[{"id":"a","action":"search","params":{}}]}`,
		"no params":             `{"name":"p","steps":[{"id":"a","action":"search"}]}`,
		"wrong type":            `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":1}}]}`,
		"null":                  `{"name":"p","dry_run":null,"steps":[` + find + `]}`,
		"number as text":        `{"name":"p","steps":[{"id":"a","action":"read_ranges","params":{"files":["x"],"start_line":"one"}}]}`,
		"bad mode":              `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x","mode":"xor"}}]}`,
		"condition type":        `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"maybe"},"params":{"pattern":"x"}}]}`,
		"condition no ref":      `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"has_matches"},"params":{"pattern":"x"}}]}`,
		"condition extra":       `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"has_matches","step_ref":"f","value":1},"params":{"pattern":"x"}}]}`,
		"aggregate of one":      `{"name":"p","steps":[` + find + `,{"id":"a","action":"aggregate","input_from_all":["f"]}]}`,
		"retry_if of nothing":   on(`"retry_if":[{"step":"f"}]`),
		"retry_if of both":      on(`"retry_if":[{"step":"f","keyword":"x","when":"prev.error"}]`),
		"retry_if to nothing":   on(`"retry_if":[{"keyword":"x"}]`),
		"retry_if, empty":       on(`"retry_if":[{"step":"f","keyword":""}]`),
		"retry_if, unknown":     on(`"retry_if":[{"step":"f","keyword":"x","often":true}]`),
		"retry_if, empty words": on(`"retry_if":{"f":""}`),
		"retry_if, no id":       on(`"retry_if":{"f g":"x"}`),
		"retry_if, a number":    on(`"retry_if":{"f":1}`),
		"retry_if, a string":    on(`"retry_if":"f"`),
		"retry_if, 21 entries":  on(`"retry_if":[` + strings.Repeat(`{"step":"f","keyword":"x"},`, 20) + `{"step":"f","keyword":"x"}]`),
		"condition, a word":     on(`"condition":"prev_error"`),
		"prev_error of a step":  on(`"condition":{"type":"prev_error","step_ref":"f"}`),
		"max_retries -1":        on(`"max_retries":-1`),
		"max_retries 101":       on(`"max_retries":101`),
		"max_retries 0.5":       on(`"max_retries":0.5`),
		"max_visits 1":          on(`"max_visits":1,"retry_if":{"a":"x"}`),
		"max_visits 101":        on(`"max_visits":101,"retry_if":{"a":"x"}`),
		"timeout 0":             on(`"timeout":0`),
		"timeout of a day more": on(`"timeout":86400.5`),
		"timeout as text":       on(`"timeout":"30"`),
		"backoff -1":            on(`"backoff":-1`),
		"backoff of two hours":  on(`"backoff":7200`),
		"on_fail, no id":        on(`"on_fail":"a b"`),
		"next, a list":          on(`"next":["f"]`),
		"input of another word": `{"name":"p","steps":[{"id":"a","action":"read_ranges","input":"last"}]}`,
		"input of a search":     on(`"input":"previous"`),
		"input of several":      `{"name":"p","steps":[` + find + `,` + strings.Replace(find, `"f"`, `"g"`, 1) + `,{"id":"a","action":"merge","input_from_all":["f","g"],"input":"previous"}]}`,
		"max_attempts 0":        `{"name":"p","max_attempts":0,"steps":[` + find + `]}`,
		"max_attempts 201":      `{"name":"p","max_attempts":201,"steps":[` + find + `]}`,
		"deadline 0":            whole(`"deadline_seconds":0`),
		"deadline -1":           whole(`"deadline_seconds":-1`),
		"deadline of 8 days":    whole(`"deadline_seconds":691200`),
		"deadline as text":      whole(`"deadline_seconds":"9"`),
		"budget 0":              whole(`"budget":0`),
		"budget -1":             whole(`"budget":-1`),
		"budget as text":        whole(`"budget":"3"`),
		"budget null":           whole(`"budget":null`),
		"budget of a list":      whole(`"budget":[3]`),
		"budget, empty":         whole(`"budget":{}`),
		"budget, unknown":       whole(`"budget":{"usd":1,"tokens":5}`),
		"budget, usd 0":         whole(`"budget":{"usd":0}`),
		"budget, files 1.5":     whole(`"budget":{"files":1.5}`),
		"budget, edits 0":       whole(`"budget":{"edits":0}`),
		"budget, bytes null":    whole(`"budget":{"bytes":null}`),
		"long classification":   whole(`"classification":"` + strings.Repeat("é", 256) + `"`),
		"classification 1":      whole(`"classification":1`),
		"fail without a word":   `{"name":"p","steps":[{"id":"a","action":"fail"}]}`,
		"negative expect":       `{"name":"p","steps":[{"id":"a","action":"search","expect":{"min_files":-1},"params":{"pattern":"x"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := millrace.Decode([]byte(text)); err == nil {
				t.Error("the decoder takes it")
			}
			if err := valid(t, s, []byte(text)); err == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

// TestSchemaIsCurrent: the file is what the registry gives.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := millrace.Decoder{}.Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../docs/pipeline.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(got), want) {
		t.Error("docs/pipeline.schema.json is not current: run go test . -run Docs -update in the root of the project")
	}
	if !json.Valid(want) {
		t.Error("the schema is not JSON")
	}
}

// With tools, the schema knows their names and arguments, and agrees with the decoder.
func TestToolsInSchema(t *testing.T) {
	type message struct {
		Channel string   `json:"channel" param:"required"`
		Count   int      `json:"count,omitempty"`
		Tags    []string `json:"tags,omitempty"`
	}
	send := tool.Func("messages_send", "Post a message.", func(context.Context, message) (int, error) { return 0, nil })
	open := tool.Func("open", "Take anything.", func(context.Context, map[string]any) (int, error) { return 0, nil })
	tools, err := tool.New(send, open)
	if err != nil {
		t.Fatal(err)
	}
	d := millrace.Decoder{Tools: tools}
	data, err := d.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tools.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tools.json")
	if err != nil {
		t.Fatal(err)
	}
	for params, ok := range map[string]bool{
		`{"tool": "messages_send", "args": {"channel": "x"}}`:                                                        true,
		`{"tool": "messages_send", "args": {"channel": "x", "count": "{{find.count}}", "tags": ["{{find.files}}"]}}`: true,
		`{"tool": "messages_send", "args": {"channel": "x", "count": 1.5}}`:                                          false,
		`{"tool": "messages_send", "args": {"chanel": "x"}}`:                                                         false,
		`{"tool": "messages_send"}`:                                                                                  false,
		`{"tool": "messages_send", "args": {"channel": ""}}`:                                                         false,
		`{"tool": "message_send", "args": {"channel": "x"}}`:                                                         false,
		`{"tool": "open"}`: true,
		`{"tool": "open", "args": {"anything": [null, {"n": 1}]}}`: true,
		`{"tool": "open", "args": []}`:                             false,
		`{"args": {}}`:                                             false,
	} {
		text := `{"name": "p", "steps": [{"id": "find", "action": "search", "params": {"pattern": "x"}}, {"id": "t", "action": "tool", "params": ` + params + `}]}`
		if err := valid(t, s, []byte(text)); (err == nil) != ok {
			t.Errorf("the schema says of %s: %v", params, err)
		}
		if _, err := d.Decode([]byte(text)); (err == nil) != ok {
			t.Errorf("the decoder says of %s: %v", params, err)
		}
	}
}

package schemacheck_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/millrace-go/millrace"
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

// TestBothRefuse: what is structurally wrong is refused by the schema and by the decoder.
func TestBothRefuse(t *testing.T) {
	s := schema(t)
	const find = `{"id":"f","action":"search","params":{"pattern":"x"}}`
	for name, text := range map[string]string{
		"no name":          `{"steps":[` + find + `]}`,
		"empty name":       `{"name":"","steps":[` + find + `]}`,
		"no steps":         `{"name":"p"}`,
		"empty steps":      `{"name":"p","steps":[]}`,
		"21 steps":         `{"name":"p","steps":[` + strings.Repeat(find+",", 20) + find + `]}`,
		"bad id":           `{"name":"p","steps":[{"id":"a b","action":"search","params":{"pattern":"x"}}]}`,
		"unknown action":   `{"name":"p","steps":[{"id":"a","action":"serach","params":{"pattern":"x"}}]}`,
		"unknown param":    `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x","patern":"y"}}]}`,
		"missing param":    `{"name":"p","steps":[{"id":"a","action":"search","params":{}}]}`,
		"no params":        `{"name":"p","steps":[{"id":"a","action":"search"}]}`,
		"wrong type":       `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":1}}]}`,
		"null":             `{"name":"p","dry_run":null,"steps":[` + find + `]}`,
		"number as text":   `{"name":"p","steps":[{"id":"a","action":"read_ranges","params":{"files":["x"],"start_line":"one"}}]}`,
		"bad mode":         `{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x","mode":"xor"}}]}`,
		"condition type":   `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"maybe"},"params":{"pattern":"x"}}]}`,
		"condition no ref": `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"has_matches"},"params":{"pattern":"x"}}]}`,
		"condition extra":  `{"name":"p","steps":[` + find + `,{"id":"a","action":"search","condition":{"type":"has_matches","step_ref":"f","value":1},"params":{"pattern":"x"}}]}`,
		"aggregate of one": `{"name":"p","steps":[` + find + `,{"id":"a","action":"aggregate","input_from_all":["f"]}]}`,
		"negative expect":  `{"name":"p","steps":[{"id":"a","action":"search","expect":{"min_files":-1},"params":{"pattern":"x"}}]}`,
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

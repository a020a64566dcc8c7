package schemacheck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/millrace-go/millrace/runs"
)

// nothing has no runs, and takes every call that is decoded.
type nothing struct{}

func (nothing) List(context.Context, runs.Filter) (p runs.Page[runs.Run], err error) { return p, nil }
func (nothing) Get(context.Context, runs.RunRef) (r runs.Run, err error)             { return r, nil }
func (nothing) Jobs(context.Context, runs.RunRef, runs.JobFilter) (p runs.Page[runs.Job], err error) {
	return p, nil
}

func (nothing) Triggers(context.Context, runs.RunRef, runs.Paging) (p runs.Page[runs.Trigger], err error) {
	return p, nil
}
func (nothing) Job(context.Context, runs.JobRef) (j runs.Job, err error) { return j, nil }
func (nothing) Logs(context.Context, runs.JobRef, runs.LogRange) (l runs.Log, err error) {
	return l, nil
}
func (nothing) Create(context.Context, runs.CreateParams) (r runs.Run, err error) { return r, nil }
func (nothing) Retry(context.Context, runs.RunRef) (r runs.Run, err error)        { return r, nil }
func (nothing) Cancel(context.Context, runs.RunRef) (r runs.Run, err error)       { return r, nil }

type noJobs struct{}

func (noJobs) Play(context.Context, runs.JobRef, runs.PlayParams) (j runs.Job, err error) {
	return j, nil
}
func (noJobs) Retry(context.Context, runs.JobRef) (j runs.Job, err error)  { return j, nil }
func (noJobs) Cancel(context.Context, runs.JobRef) (j runs.Job, err error) { return j, nil }

func compiled(t *testing.T, name string, data []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// values are what parameters are given, the good and the bad, in JSON.
func values(typ string, enum []string) (good, bad []string) {
	for _, s := range enum {
		good = append(good, `"`+s+`"`)
	}
	long := `"` + strings.Repeat("ä", 1024) + `"`
	tooLong := `"` + strings.Repeat("ä", 1025) + `"`
	never := []string{"null", "{}", `[]`, "[1]"}
	switch typ {
	case "true or false":
		return []string{"true", "false"}, append(never, "0", `"true"`, `""`)
	case "a whole number":
		return []string{"1", "7", "1.0", "1e1"}, append(never, "1.5", `"1"`, "true", "1e300", "0", "-1", "100", "101", "10001", "1000000001", "9007199254740993")
	case "a whole number or a string":
		return []string{"1", "12003", "9007199254740992", `"12/fix"`, `"0"`, long}, append(never, "0", "-1", "1.5", `""`, "9007199254740993", "true", tooLong)
	case "an RFC 3339 time":
		return []string{`"2030-01-02T03:04:05Z"`, `"2030-01-02T03:04:05.123456789+01:00"`}, append(never, `"2030-01-02"`, `""`, "1", `"2030-13-02T03:04:05Z"`, `"noon"`)
	case "hexadecimal digits":
		return []string{`"abcdef0"`, `"ABCDEF0123"`}, append(never, `"abcdef"`, `"abcdefg"`, `""`, "1234567", `"`+strings.Repeat("a", 65)+`"`)
	case "an object or a string":
		return []string{`{"name":"q","steps":[{"id":"a","action":"fail","params":{"message":"m"}}]}`, `"name"`}, []string{"null", "[]", "1", `""`}
	case "a list of {key, value, variable_type}":
		good = []string{`[{"key":"k","value":"v","variable_type":"file"},{"key":"l","value":"","variable_type":"env_var"}]`}
		bad = []string{`[{"key":"k","value":"v","variable_type":"x"}]`}
		fallthrough
	case "a list of {key, value}":
		if good == nil {
			bad = []string{`[{"key":"k","value":"v","variable_type":"file"}]`}
		}
		good = append(good, "[]", `[{"key":"k","value":"v"}]`)
		return good, append(bad, "null", "{}", "[1]", `[{"key":"k"}]`, `[{"value":"k"}]`, `[{"key":"","value":""}]`, `[{"key":"k","value":1}]`,
			`[{"key":"k","value":"","more":1}]`, `["k"]`)
	}
	if enum != nil {
		return good, append(never, `"x"`, `""`, "1", strings.ToUpper(good[0]))
	}
	return []string{`"p"`, `" "`, long}, append(never, `""`, "1", "true", tooLong)
}

// TestRunCommands: what the decoder of the commands over runs takes both schemas take, and what it refuses they refuse.
func TestRunCommands(t *testing.T) {
	tools := runs.Tools{Browse: nothing{}, Manage: nothing{}, Jobs: noJobs{}}
	random := rand.New(rand.NewPCG(1, 2))
	oneOf := func(list []string) string { return list[random.IntN(len(list))] }
	for _, name := range tools.Names() {
		data, err := tools.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		flat, err := tools.FlatSchema(name)
		if err != nil {
			t.Fatal(err)
		}
		schema, other := compiled(t, name, data), compiled(t, name+" flat", flat)
		doc, err := tools.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]runs.ParamDoc{}
		for _, a := range doc.Actions {
			for _, p := range a.Params {
				all[p.Name] = p
			}
		}
		names := slices.Sorted(maps.Keys(all))
		taken, refused := 0, 0
		for range 4000 {
			args := map[string]json.RawMessage{}
			give := func(p runs.ParamDoc) {
				good, bad := values(p.Type, p.Enum)
				args[p.Name] = json.RawMessage(oneOf(good))
				if random.IntN(20) == 0 {
					args[p.Name] = json.RawMessage(oneOf(bad))
				}
			}
			a := doc.Actions[random.IntN(len(doc.Actions))]
			args["action"] = json.RawMessage(`"` + a.Name + `"`)
			either := random.IntN(2)
			for _, p := range a.Params {
				switch {
				case p.Required && random.IntN(20) > 0, p.OneOf != nil && p.OneOf[either] == p.Name, !p.Required && p.OneOf == nil && random.IntN(4) == 0:
					give(p)
				}
			}
			switch random.IntN(10) {
			case 0:
				give(all[oneOf(names)]) // which need not belong here
			case 1:
				args[oneOf([]string{"action", "page_id", "projectid", "jobID"})] = json.RawMessage(oneOf([]string{`"lst"`, "1", "null", `"get"`}))
			case 2:
				if random.IntN(4) == 0 {
					delete(args, "action")
				}
			}
			text, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tools.Call(t.Context(), name, text)
			_, isRefused := errors.AsType[*runs.ArgsError](err)
			if isRefused {
				refused++
			} else {
				taken++
			}
			for what, s := range map[string]*jsonschema.Schema{"the schema": schema, "the flat schema": other} {
				if said := valid(t, s, text); (said != nil) != isRefused {
					t.Fatalf("%s of %s and the decoder differ about %.500s\ndecoder: %v\nschema: %v", what, name, text, err, said)
				}
			}
		}
		if taken < 800 || refused < 800 {
			t.Errorf("%s: only %d calls are taken and %d refused", name, taken, refused)
		}
	}
}

package docs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/suite"
)

var update = flag.Bool("update", false, "rewrite what is generated")

// TestMain works in the root of the repository, where the pages are.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestDocsSchema checks that docs/pipeline.schema.json is the schema of the registry.
func TestDocsSchema(t *testing.T) {
	want, err := millrace.Decoder{}.Schema()
	if err != nil {
		t.Fatal(err)
	}
	suite.Golden(t, *update, "docs/pipeline.schema.json", append(want, '\n'))
}

// TestDocsActions checks that the part of docs/json-actions.md between its markers is generated from the registry.
func TestDocsActions(t *testing.T) {
	const begin, end = "<!-- actions: made by go test ./internal/suite/docs -update -->\n", "<!-- end of actions -->\n"
	data, err := os.ReadFile("docs/json-actions.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("docs/json-actions.md has no markers")
	}
	var b strings.Builder
	registry := actions.Builtin()
	for _, name := range registry.Names() {
		prototype, _ := registry.Lookup(name)
		spec := prototype.Spec()
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n", name, capitalised(spec.Summary))
		writes := "reads and writes"
		if spec.ReadOnly {
			writes = "only reads"
		}
		if spec.ReadOnly && spec.Context {
			writes = "touches no files" // its Spec does not describe other effects
		}
		input := map[actions.Input]string{
			actions.InputOptional: "may take files from other steps",
			actions.InputFiles:    "needs `files`, or the files of other steps",
			actions.InputMany:     "needs `input_from_all` with at least two steps",
			actions.InputNone:     "takes no files from other steps",
		}[spec.Input]
		fmt.Fprintf(&b, "It %s, and %s.\n\n", writes, input)
		object, err := params.Describe(prototype)
		if err != nil {
			t.Fatal(err)
		}
		if len(object.Fields) > 0 {
			b.WriteString("| parameter | type | required | meaning |\n|---|---|---|---|\n")
			writeFields(t, &b, name, "", object)
		}
	}
	suite.Golden(t, *update, "docs/json-actions.md", []byte(head+begin+b.String()+"\n"+end+tail))
}

func writeFields(t *testing.T, b *strings.Builder, action, prefix string, object *form.Form) {
	for _, f := range object.Fields {
		inner := f.Form.Innermost()
		if f.Doc == "" {
			t.Errorf("parameter %s%s of %s has no doc tag", prefix, f.Name, action)
		}
		required := ""
		if f.Required {
			required = "yes"
		}
		doc := f.Doc
		if len(inner.Enum) > 0 {
			doc += " One of `" + strings.Join(inner.Enum, "`, `") + "`."
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, f.Name, typeName(f.Form), required, strings.ReplaceAll(doc, "|", `\|`))
		writeFields(t, b, action, prefix+f.Name+"[].", inner)
	}
}

func typeName(f *form.Form) string {
	switch f.Kind {
	case form.Text:
		return "string"
	case form.Flag:
		return "true or false"
	case form.Number:
		return "whole number"
	case form.List:
		return "list of " + typeName(f.Elem) + "s"
	default:
		return "object"
	}
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// TestReadmeProgram checks that the program in the README is the package example, which runs.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	src, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(fset, "example_test.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var body string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Example" {
			body = string(src[fset.Position(f.Body.Pos()).Offset:fset.Position(f.Body.End()).Offset])
		}
	}
	from := strings.Index(body, "p, err :=")
	to := strings.Index(body, "\tif err != nil {")
	if from < 0 || to < 0 {
		t.Fatal("the example has another form")
	}
	pipeline := strings.ReplaceAll(strings.TrimSpace(body[from:to]), "\n\t\t", "\n\t")
	if !strings.Contains(string(readme), pipeline) {
		t.Errorf("README.md does not have the pipeline of the package example:\n%s", pipeline)
	}
}

// TestDocsPipelines decodes every pipeline in the docs.
func TestDocsPipelines(t *testing.T) {
	n := 0
	for _, file := range []string{"docs/library.md", "docs/json.md", "docs/json-actions.md", "docs/json-results.md", "docs/flow.md", "docs/exec.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(data), "```json\n")[1:] {
			text, _, _ := strings.Cut(block, "```")
			if !json.Valid([]byte(text)) {
				t.Errorf("%s: not JSON:\n%s", file, text)
				continue
			}
			if strings.Contains(text, `"steps"`) {
				n++
				if _, err := millrace.Decode([]byte(text)); err != nil {
					t.Errorf("%s: %v\n%s", file, err, text)
				}
			}
		}
	}
	if n < 2 {
		t.Errorf("only %d pipelines found", n)
	}
}

// TestDocsFiles checks that the table of the files of each action is complete.
func TestDocsFiles(t *testing.T) {
	sameWords(t, "docs/json-actions.md, of files,", firstCells(section(t, "docs/json-actions.md", "Files of each action")), actions.Builtin().Names())
}

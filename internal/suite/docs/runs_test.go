package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/runs"
)

// allCommands returns all commands over runs. None of them is called.
func allCommands() runs.Tools {
	return runs.Tools{Browse: struct{ runs.Browser }{}, Manage: struct{ runs.Manager }{}, Jobs: struct{ runs.JobManager }{}}
}

const commandsPage = "docs/runs-commands.md"

// TestDocsCommands checks that the part of the page between its markers is generated from the table of the commands.
func TestDocsCommands(t *testing.T) {
	const begin, end = "<!-- commands: made by go test ./internal/suite/docs -update -->\n", "<!-- end of commands -->\n"
	data, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no markers", commandsPage)
	}
	var b strings.Builder
	tools := allCommands()
	for _, name := range tools.Names() {
		doc, err := tools.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| action | what | required | optional |\n|---|---|---|---|\n", name, doc.Summary)
		var params []runs.ParamDoc
		for _, a := range doc.Actions {
			required, optional := []string{}, []string{}
			for _, p := range a.Params {
				switch {
				case p.Required:
					required = append(required, "`"+p.Name+"`")
				case p.OneOf != nil && p.OneOf[0] == p.Name:
					required = append(required, "`"+strings.Join(p.OneOf, "` or `")+"`")
				case p.OneOf == nil:
					optional = append(optional, "`"+p.Name+"`")
				}
				if !slices.ContainsFunc(params, func(other runs.ParamDoc) bool { return other.Name == p.Name }) {
					params = append(params, p)
				}
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Name, a.Summary, strings.Join(required, ", "), strings.Join(optional, ", "))
		}
		b.WriteString("\n| parameter | type | meaning |\n|---|---|---|\n")
		for _, p := range params {
			meaning := p.Doc
			if len(p.Enum) > 0 {
				meaning += " One of `" + strings.Join(p.Enum, "`, `") + "`."
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, p.Type, meaning)
		}
	}
	suite.Golden(t, *update, commandsPage, []byte(head+begin+b.String()+"\n"+end+tail))
}

// TestDocsCommandSchemas checks that the schemas of the commands do not change: clients may have stored them.
func TestDocsCommandSchemas(t *testing.T) {
	tools := allCommands()
	for _, name := range tools.Names() {
		schema, err := tools.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		suite.Golden(t, *update, "runs/testdata/"+name+".schema.json", append(schema, '\n'))
		flat, err := tools.FlatSchema(name)
		if err != nil {
			t.Fatal(err)
		}
		suite.Golden(t, *update, "runs/testdata/"+name+".flat.json", append(flat, '\n'))
	}
}

// TestDocsCommandProblems checks the table of codes: it has each code of the package, and no other.
func TestDocsCommandProblems(t *testing.T) {
	// Constants of package params by name, as far as package runs uses them.
	known := map[string]string{}
	used := map[string]bool{}
	for _, dir := range []string{"internal/params", "runs"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if !strings.HasPrefix(strings.ToLower(name.Name), "code") || i >= len(n.Values) {
							continue
						}
						if text, ok := n.Values[i].(*ast.BasicLit); ok {
							value, _ := strconv.Unquote(text.Value)
							if known[name.Name] = value; dir == "runs" {
								used[value] = true
							}
						}
					}
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && dir == "runs" && x.Name == "params" && strings.HasPrefix(n.Sel.Name, "Code") {
						used[known[n.Sel.Name]] = true
					}
				}
				return true
			})
		}
	}
	var codes []string
	for code := range used {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	sameWords(t, commandsPage, firstCells(section(t, commandsPage, "Problems")), codes)
}

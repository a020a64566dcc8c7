package gocode_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/millracetest"
)

// importCases are files of a small module, without "package x", and the results of go_imports.
var importCases = []struct{ name, old, want, warning string }{
	{"standard library", "var v = strings.ToUpper(\"a\")\n", "import \"strings\"\n\nvar v = strings.ToUpper(\"a\")\n", ""},
	{"not needed", "import (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar v = os.Args\n",
		"import (\n\t\"os\"\n)\n\nvar v = os.Args\n", ""},
	{"kept", "import (\n\t\"C\"\n\t_ \"embed\"\n\t. \"strings\"\n)\n\nvar v = ToUpper(\"a\")\n",
		"import (\n\t\"C\"\n\t_ \"embed\"\n\t. \"strings\"\n)\n\nvar v = ToUpper(\"a\")\n", ""},
	{"by its exports", "var a, b = rand.Text(), template.HTMLEscapeString(\"\")\n",
		"import (\n\t\"crypto/rand\"\n\t\"text/template\"\n)\n\n" +
			"var a, b = rand.Text(), template.HTMLEscapeString(\"\")\n", ""},
	{"math/rand/v2", "var a = rand.N(3)\n", "import \"math/rand/v2\"\n\nvar a = rand.N(3)\n", ""},
	{"html", "var a template.HTML\n", "import \"html/template\"\n\nvar a template.HTML\n", ""},
	{"of the tree", "var v = deep.Exported\n", "import \"example.com/m/lib/deep\"\n\nvar v = deep.Exported\n", ""},
	{"of the tree, by its clause", "var v = named.Exported\n",
		"import named \"example.com/m/lib/other\"\n\nvar v = named.Exported\n", ""},
	{"not exported", "var v = deep.hidden\n", "var v = deep.hidden\n", "no package is known for deep"},
	{"internal", "var v = secret.X\n", "var v = secret.X\n", "no package is known for secret"},
	{"another module", "var v = color.Red()\n", "import \"github.com/fatih/color\"\n\nvar v = color.Red()\n", ""},
	{"with its name", "var v = y.Marshal(1)\n", "import y \"go.yaml.in/yaml/v4\"\n\nvar v = y.Marshal(1)\n", ""},
	{"declared in another file", "var v = sibling.Field\n", "var v = sibling.Field\n", ""},
	{"declared here", "func F(strings struct{ X int }) int { return strings.X }\n",
		"func F(strings struct{ X int }) int { return strings.X }\n", ""},
	{"assumed", "import \"example.org/go-thing.v2\"\n\nvar v = thing.X\n",
		"import \"example.org/go-thing.v2\"\n\nvar v = thing.X\n", ""},
	{"assumed, not needed", "import \"example.org/thing\"\n\nvar v = 1\n", "var v = 1\n", ""},
	{"perhaps needed", "import \"example.org/odd\"\n\nvar v = strange.X\n",
		"import \"example.org/odd\"\n\nvar v = strange.X\n", "no package is known for strange"},
	{"named in part", "import \"example.org/golang-deep\"\n\nvar v = deep.Exported\n",
		"import \"example.org/golang-deep\"\n\nvar v = deep.Exported\n", ""},
	{"named in part, with a version", "import \"example.org/go-Far.Deep/v2\"\n\nvar v = fardeep.Exported\n",
		"import \"example.org/go-Far.Deep/v2\"\n\nvar v = fardeep.Exported\n", ""},
	{"named by its version", "import \"example.org/core/v1\"\n\nvar v = v1.Pod\n",
		"import \"example.org/core/v1\"\n\nvar v = v1.Pod\n", ""},
	{"named by a part of a word", "import \"example.org/deep/steepdeeper\"\n\nvar v = deep.Exported\n",
		"import \"example.com/m/lib/deep\"\n\nvar v = deep.Exported\n", ""},
	{"named once", "import \"example.org/deep-named\"\n\nvar v, w = deep.Exported, named.Exported\n",
		"import (\n\tnamed \"example.com/m/lib/other\"\n\t\"example.org/deep-named\"\n)\n\n" +
			"var v, w = deep.Exported, named.Exported\n", ""},
	{"formatted", "var  v=1\n", "var v = 1\n", ""},
	{"grouped", "import \"example.com/m/lib/deep\"\n\nvar v, w = deep.Exported, fmt.Sprint()\n",
		"import (\n\t\"fmt\"\n\n\t\"example.com/m/lib/deep\"\n)\n\nvar v, w = deep.Exported, fmt.Sprint()\n", ""},
}

// importTree is the module of the importCases, without their file.
const importTree = `
-- go.mod --
module example.com/m
-- x/sibling.go --
package x

var sibling struct{ Field int }
-- lib/deep/deep.go --
package deep

var Exported, hidden int

func (T) Method() {}

type T int
-- far/off/deep/deep.go --
package deep

var Exported int
-- lib/other/a.go --
package named

var Exported int
-- lib/other/ignore.go --
//go:build ignore

package main
-- lib/other/a_test.go --
package named

var Tested int
-- lib/internal/secret/a --
-- lib/internal/secret/a.go --
package secret

var X int
-- user/user.go --
package user

import (
	"github.com/fatih/color"
	y "go.yaml.in/yaml/v4"
)

var _, _ = color.Red, y.Marshal
-- user/broken.go --
package user

func (
`

func TestImports(t *testing.T) {
	for _, test := range importCases {
		t.Run(test.name, func(t *testing.T) {
			files := importTree + "-- x/a.go --\npackage x\n\n"
			fsys := millracetest.Tree(t, files+test.old)
			res := must(t, millrace.Executor{}, fsys,
				`{"id": "imports", "action": "go_imports", "params": {"files": ["x/a.go"]}}`)
			millracetest.Equal(t, fsys, files+test.want)
			warnings := strings.Join(res.AllWarnings(), "\n")
			if test.warning == "" && strings.Contains(warnings, "no package") || !strings.Contains(warnings, test.warning) {
				t.Errorf("the warnings are %q, want %q", warnings, test.warning)
			}
		})
	}
}

// An external test imports its package. The package itself does not.
func TestImportsExternalTest(t *testing.T) {
	const files = `
-- go.mod --
module example.com/m
-- a/a.go --
package a

var X = a.Y

var Y int
-- a/a_test.go --
package a_test

var v = a.X
`
	fsys := millracetest.Tree(t, files)
	must(t, millrace.Executor{}, fsys,
		`{"id": "imports", "action": "go_imports", "params": {"files": ["a/a.go", "a/a_test.go"]}}`)
	wantChanged(t, fsys, files, "-- a/a_test.go --\npackage a_test\n\nimport \"example.com/m/a\"\n\nvar v = a.X\n")
}

// Without a module only packages of the standard library are imported.
func TestImportsWithoutModule(t *testing.T) {
	const files = "-- a.go --\npackage a\n\nvar v, w = fmt.Sprint(), deep.X\n-- deep/a.go --\npackage deep\n\nvar X int\n"
	fsys := millracetest.Tree(t, files)
	must(t, millrace.Executor{}, fsys, `{"id": "imports", "action": "go_imports", "params": {"files": ["a.go"]}}`)
	wantChanged(t, fsys, files, "-- a.go --\npackage a\n\nimport \"fmt\"\n\nvar v, w = fmt.Sprint(), deep.X\n")
}

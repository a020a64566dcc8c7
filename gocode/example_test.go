package gocode_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/gocode"
)

// module is a small module: a package, and a command that calls it.
var module = map[string]string{
	"go.mod": "module example.com/shop\n\ngo 1.25\n",
	"price/p.go": "package price\n\n// Format is the old one.\n" +
		"func Format(cents int) string { return Text(cents, \"EUR\") }\n\n// Text is the new one.\n" +
		"func Text(cents int, unit string) string { return unit }\n",
	"cmd/main.go": "package main\n\nimport \"example.com/shop/price\"\n\nfunc main() {\n\tprintln(price.Format(100))\n}\n",
}

// rename replaces the calls of a function by calls of another function, updates imports, and checks the result with go
// vet.
const rename = `{"name": "rename an API", "steps": [
	{"id": "calls", "action": "go_rewrite", "params": {
		"pattern": "price.Format(n)", "replacement": "price.Text(n, os.Getenv(\"UNIT\"))",
		"imports": ["example.com/shop/price"]}},
	{"id": "imports", "action": "go_imports"},
	{"id": "vet", "action": "exec", "params": {"command": "go", "args": ["vet", "./..."], "discard": true}}
]}`

// The example renames an API across a module, updates imports, vets and commits: on a tree in memory, and on disk.
func Example() {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	policy := command.Policy{Allow: []string{"go list *", "go vet *"}, Scratch: scratch}
	if policy.Supported() != nil {
		policy.Sandbox = command.Off // this system has no sandbox
	}
	if policy, err = command.Toolchains(policy, dir, "go"); err != nil {
		log.Fatal(err)
	}
	decoder := millrace.Decoder{Actions: actions.Builtin().With(gocode.Actions()...)}
	p, err := decoder.Decode([]byte(rename))
	if err != nil {
		log.Fatal(err)
	}
	for _, fsys := range []afero.Fs{afero.NewMemMapFs(), root} {
		for name, text := range module {
			if err := fsys.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				log.Fatal(err)
			}
			if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := (millrace.Executor{Commands: policy}).Run(context.Background(), fsys, p); err != nil {
			log.Fatal(err)
		}
		text, err := afero.ReadFile(fsys, "cmd/main.go")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(string(text))
	}
	// Output:
	// package main
	//
	// import (
	// 	"os"
	//
	// 	"example.com/shop/price"
	// )
	//
	// func main() {
	// 	println(price.Text(100, os.Getenv("UNIT")))
	// }
	// package main
	//
	// import (
	// 	"os"
	//
	// 	"example.com/shop/price"
	// )
	//
	// func main() {
	// 	println(price.Text(100, os.Getenv("UNIT")))
	// }
}

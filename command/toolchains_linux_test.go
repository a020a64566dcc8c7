package command_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
)

// The real tools of the system run in the sandbox with the settings of their row.
func TestToolchains_realTools(t *testing.T) {
	t.Parallel()
	goScript := "go list ./... && go build ./lib" // compiles nothing else
	if fstest.Runs(0, 1, 1) > 0 {
		goScript = "go vet ./... && go run . | grep works"
	}
	for _, tt := range []struct {
		program, script string
		files           map[string]string
	}{
		{"go", goScript, map[string]string{
			"go.mod": "module x\n\ngo 1.21\n", "lib/lib.go": "package lib\n\nfunc Works() bool { return true }\n",
			"main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"works\") }\n",
		}},
		{"gofmt", "gofmt -l .", nil},
		{"node", "node -e 'console.log(require(\"./a.js\"))' | grep works", map[string]string{
			"a.js": "module.exports = 'works'\n", "package.json": "{}",
		}},
		{"npm", "npm --version && npm run hello | grep works", map[string]string{"package.json": `{"scripts": {"hello": "echo works"}}`}},
		{"python3", "python3 -c 'import json, sqlite3; print(\"works\")' | grep works", map[string]string{"pyproject.toml": ""}},
		{"cargo", "cargo build -q && cargo run -q | grep works", map[string]string{
			"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() { println!(\"works\"); }\n",
		}},
		{"java", "java -version 2>&1 && java X.java | grep works", map[string]string{
			"X.java": "class X { public static void main(String[] a) { System.out.println(\"works\"); } }\n",
		}},
		{"dotnet", "dotnet --version", map[string]string{"global.json": "{}"}},
		{"ruby", "ruby -e 'puts \"works\"' | grep works", map[string]string{"Gemfile": ""}},
		{"mvn", "mvn --version", map[string]string{"pom.xml": "<project/>"}},
	} {
		t.Run(tt.program, func(t *testing.T) {
			t.Parallel()
			p := confined(t)
			p.Shell, p.Env, p.Scratch = true, nil, t.TempDir()
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Skipf("%s is not installed", tt.program)
			}
			tree := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(tree, name), text)
			}
			p, err := command.Toolchains(p, tree, strings.Fields(tt.script)...)
			if err != nil {
				t.Fatal(err)
			}
			c := script(tt.script)
			c.Root = tree
			if exit := run(t, p, c); exit.Code != 0 {
				t.Errorf("%d: %s%s\nread: %q", exit.Code, exit.Stdout.Text, exit.Stderr.Text, p.Read)
			}
		})
	}
}

// Checked renames a function in all files of a Go module, formats them with gofmt, runs go vet and the tests on the
// result, and commits it only if they pass. Until then nothing is written.
//
//	go run ./examples/checked
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

var module = map[string]string{
	"go.mod":        "module example.com/app\n\ngo 1.24\n",
	"add.go":        "package app\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
	"double.go":     "package app\n\nvar (\n\tDouble = func(n int) int { return Add(n, n) }\n\tZero   = Add(0, 0) // nothing\n\tOne    = 1         // something\n)\n",
	"add_test.go":   "package app\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"Add(1, 2) = %d\", got)\n\t}\n}\n",
	"taken_test.go": "package app\n\nfunc Taken() {}\n",
}

// rename returns a pipeline whose last two steps only check the result. If a check fails, nothing is written.
func rename(from, to string) millrace.Pipeline {
	return millrace.New("rename").
		Step("users", actions.Search{Pattern: `\b` + from + `\b`, Mode: "regex", FileTypes: []string{".go"}}).
		Step("rename", actions.Edit{OldText: `\b` + from + `\b`, NewText: to, Mode: "regex"}).From("users").
		Step("format", actions.Exec{Command: "gofmt", Args: []string{"-w", "{{rename.files}}"}}).
		Step("vet", actions.Exec{Command: "go", Args: []string{"vet", "./..."}, Discard: true}).
		Step("test", actions.Exec{Command: "go", Args: []string{"test", "./..."}, Discard: true}).
		MustBuild()
}

// host allows only the commands of the pipeline. They may write to the build cache, because their HOME is empty each
// time. They also run on a system without a sandbox, because the code here is trusted.
func host() (millrace.Executor, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOROOT").Output()
	if err != nil {
		return millrace.Executor{}, err
	}
	cache, goroot, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return millrace.Executor{Commands: command.Policy{
		Allow:   []string{"gofmt -w *", "go vet *", "go test *"},
		PassEnv: []string{"GOFLAGS"},
		Env:     map[string]string{"GOCACHE": cache, "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
		Read:    []string{goroot},
		Write:   []string{cache}, // untrusted programs should have a separate cache
		Sandbox: command.BestEffort,
	}}, nil
}

func main() {
	dir, err := os.MkdirTemp("", "checked")
	if err == nil {
		err = run(context.Background(), dir)
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) error {
	for name, text := range module {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	x, err := host()
	if err != nil {
		return err
	}
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)

	// A test file already has that name: go vet reports it, and nothing is written.
	res, err := x.Run(ctx, fsys, rename("Add", "Taken"))
	if err == nil {
		return errors.New("go vet was content")
	}
	fmt.Println(millrace.ErrorCode(err), "at step", len(res.Results), "and", len(res.FilesChanged.Modified),
		"files changed")

	if res, err = x.Run(ctx, fsys, rename("Add", "Total")); err != nil {
		return err
	}
	fmt.Println(res)
	fmt.Println(strings.Join(res.FilesChanged.Modified, " "))
	text, err := os.ReadFile(filepath.Join(dir, "double.go"))
	fmt.Printf("\n%s", text)
	return err
}

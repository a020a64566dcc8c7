package gocode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

// listed is the output of "go list" for one package.
type listed struct {
	Dir, ImportPath, Name, ForTest string
	Standard, DepOnly              bool
	GoFiles, CgoFiles              []string
	ImportMap                      map[string]string
	Module                         *struct{ Path, Version, GoVersion string }
	Error                          *struct{ Err string }
}

// listFields are the requested fields.
const listFields = "Dir,ImportPath,Name,ForTest,Standard,DepOnly,GoFiles,CgoFiles,ImportMap,Module,Error"

// listWords returns the command that lists packages and all their dependencies, with their tests.
func listWords(packages []string) []string {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	return append([]string{"go", "list", "-e", "-deps", "-test", "-json=" + listFields, "--"}, packages...)
}

// listNeeds are the files of a tree that the command needs.
var listNeeds = [...]string{
	"**/*.go", "**/go.mod", "**/go.sum", "**/go.work", "**/go.work.sum", "**/vendor/modules.txt",
}

// maxListed is the limit for the output of the command, in bytes. The policy of the host may have a lower one.
const maxListed = 64 << 20

// list runs the command in a directory of the workspace. Dependencies come before the packages that need them.
func list(
	ctx context.Context, c *actions.Call, w *actions.Workspace, dir string, packages []string,
) ([]*listed, error) {
	exit, err := c.Commands.Run(ctx, command.Command{
		Step: c.Step, Words: listWords(packages), Root: w.Root, Dir: filepath.Join(w.Root, filepath.FromSlash(dir)),
		Temp: w.Temp, Home: w.Home, MaxOutput: maxListed,
	})
	if err != nil {
		return nil, err
	}
	if exit.Code != 0 {
		return nil, &actions.CommandError{
			Status: exit.Code, Signal: exit.Signal, Err: fmt.Errorf("go list: %s", inTree(exit.Stderr.Text, w.Root)),
		}
	}
	if exit.Stdout.Truncated {
		return nil, actions.Permanent(
			fmt.Errorf("go list prints %d bytes, more than are kept: name fewer packages, or "+
				"raise MaxOutput of the policy for commands", exit.Stdout.Size))
	}
	return decodeList(exit.Stdout.Text)
}

// decodeList decodes the output of the command.
func decodeList(text string) ([]*listed, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	var all []*listed
	for {
		p := new(listed)
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list prints what cannot be read: %w", err)
		}
		if strings.HasSuffix(p.ImportPath, ".test") && p.Name == "main" {
			continue // the main package of the tests
		}
		all = append(all, p)
	}
}

// path returns the import path, without the suffix of a test variant.
func (p *listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// checkPackages reports patterns of packages that "go list" would understand as something else.
func checkPackages(c *actions.Check, packages []string) {
	for i, p := range packages {
		if !c.Templated(p) && badPackage(p) {
			c.Problemf(fmt.Sprintf("/packages/%d", i), "bad_package", "write ./... or ./dir",
				"'%s' is not a pattern of packages", p)
		}
	}
}

func badPackage(p string) bool {
	return p == "" || strings.HasPrefix(p, "-") || strings.HasSuffix(p, ".go")
}

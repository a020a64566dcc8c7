package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// doorModules are the modules of their own that turn what a user or a program has in hand into calls of the library.
var doorModules = []string{"cmd/millrace", "gocode", "mcpserver", "yamlform"}

// programRooms are the internal packages that the program imports. It is installed with exactly the version of the
// library that its go.mod names, so that no importer can pair it with another one. They hold no behaviour of the library.
var programRooms = []string{"internal/page"}

// A door needs no more than every importer has: what it cannot do with that is missing in the library. Go would let it
// see what is internal, since its path begins with the path of the module.
func TestDoorsUseThePublicAPI(t *testing.T) {
	t.Parallel()
	for _, door := range doorModules {
		files := 0
		err := filepath.WalkDir(filepath.Join("..", "..", filepath.FromSlash(door)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if ours, ok := strings.CutPrefix(path, module+"/"); ok && strings.HasPrefix(ours, "internal/") &&
					(door != "cmd/millrace" || !slices.Contains(programRooms, ours)) {
					t.Errorf("%s imports %s", name, path)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if files == 0 {
			t.Errorf("%s has no files", door)
		}
	}
}

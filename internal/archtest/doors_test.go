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

// doorModules are the nested modules that turn input of a user or a program into calls of the library.
var doorModules = []string{"cmd/millrace", "gocode", "mcpserver", "yamlform"}

// programRooms are the internal packages that the program may import. The program is installed with exactly the version
// of the library in its go.mod, so no importer can combine it with another version. These packages have no behavior of
// the library.
var programRooms = []string{"internal/page"}

// A door uses only the public API: if that is not enough, a function is missing in the library. Go would let a door
// import internal packages, because its path begins with the path of the module.
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

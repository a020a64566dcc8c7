package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// A generation is a tree that differs from all others in every file, so that comparing files also detects half a
// generation.

// edited is the number of files that each pipeline edits.
const edited = 20

func editedName(i int) string { return fmt.Sprintf("f%02d", i) }

func lines(file, g int) string {
	return strings.Repeat(fmt.Sprintf("generation %d of file %d\n", g, file), 40)
}

// generation returns the whole tree: files with their bytes, directories with a slash at the end. In a lean one no
// directory is removed, because that makes a backup even if none is wanted.
func generation(g int, lean bool) map[string]string {
	tree := map[string]string{"left": "A", "right": "B", "born/": "", fmt.Sprintf("dir%d/", g): ""}
	if g%2 == 1 {
		tree["left"], tree["right"] = "B", "A"
	}
	for i := range edited {
		tree[editedName(i)] = lines(i, g)
	}
	for i := 0; lean && i < g; i++ {
		tree[fmt.Sprintf("dir%d/", i)] = ""
	}
	tree[fmt.Sprintf("born/g%d", g)] = lines(0, g)
	tree[fmt.Sprintf("dir%d/f01", g)] = lines(1, g)
	return tree
}

// plant makes a tree in an empty directory.
func plant(dir string, tree map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.Mkdir(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(tree[name]), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeDir is an action that the library does not have.
type removeDir struct {
	Dir string `json:"dir" param:"required"`
}

func (removeDir) Spec() actions.Spec {
	return actions.Spec{Name: "remove_dir", Summary: "remove an empty directory", Input: actions.InputNone}
}

func (r removeDir) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	return actions.Outcome{}, c.FS.Remove(r.Dir)
}

// advance returns the pipeline from a generation to the next one. A lean one leaves nothing in the state directory.
func advance(g int, lean bool) (millrace.Pipeline, error) {
	var names []string
	for i := range edited {
		names = append(names, editedName(i))
	}
	b := millrace.New("advance").
		Options(millrace.Options{Force: true, NoBackup: lean}).
		Step("edit", actions.Edit{Files: names, OldText: fmt.Sprintf("generation %d of", g), NewText: fmt.Sprintf("generation %d of", g+1)}).
		Step("swap1", actions.Rename{Files: []string{"left"}, To: "aside"}).
		Step("swap2", actions.Rename{Files: []string{"right"}, To: "left"}).
		Step("swap3", actions.Rename{Files: []string{"aside"}, To: "right"}).
		Step("create", actions.Copy{Files: []string{"f00"}, To: fmt.Sprintf("born/g%d", g+1)}).
		Step("delete", actions.Delete{Files: []string{fmt.Sprintf("born/g%d", g)}, Permanent: lean}).
		Step("mkdir", actions.Copy{Files: []string{"f01"}, Destination: fmt.Sprintf("dir%d", g+1)}).
		Step("rm", actions.Delete{Files: []string{fmt.Sprintf("dir%d/f01", g)}, Permanent: lean}).Builder
	if !lean {
		b = b.Step("rmdir", removeDir{Dir: fmt.Sprintf("dir%d", g)}).Builder
	}
	return b.Build()
}

// read returns the content of a directory in the form of generation, without the state directory.
func read(dir string) (map[string]string, error) {
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case name == stateDir, name == "lost+found": // of a newly made file system
			return filepath.SkipDir
		case d.IsDir():
			tree[name+"/"] = ""
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			tree[name] = string(data)
		default:
			tree[name] = d.Type().String()
		}
		return nil
	})
	return tree, err
}

// whichGeneration returns the generation in the directory, or an error that names the files of other generations.
func whichGeneration(dir string, lean bool) (int, error) {
	tree, err := read(dir)
	if err != nil {
		return 0, err
	}
	var g int
	if _, err := fmt.Sscanf(tree[editedName(0)], "generation %d", &g); err != nil {
		return 0, fmt.Errorf("%s is %.40q: %w", editedName(0), tree[editedName(0)], err)
	}
	want := generation(g, lean)
	var errs []error
	for name, text := range want {
		if got, ok := tree[name]; !ok {
			errs = append(errs, fmt.Errorf("generation %d: %s is missing", g, name))
		} else if got != text {
			errs = append(errs, fmt.Errorf("generation %d: %s is %.40q", g, name, got))
		}
	}
	for name := range tree {
		if _, ok := want[name]; !ok {
			errs = append(errs, fmt.Errorf("generation %d: litter: %s", g, name))
		}
	}
	return g, errors.Join(errs...)
}

// litter reports files that a finished recovery should have removed.
func litter(dir string, lean bool) error {
	for _, name := range []string{"tx", "conflicts"} {
		left, err := os.ReadDir(filepath.Join(dir, stateDir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("litter: %s/%s/%s is left", stateDir, name, left[0].Name())
		}
	}
	if lean && exists(dir, stateDir) {
		names, _ := filepath.Glob(filepath.Join(dir, stateDir, "*", "*"))
		return fmt.Errorf("litter: %s is left, with no needed file in it: %v", stateDir, names)
	}
	return nil
}

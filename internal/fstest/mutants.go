package fstest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutant is a package with something left out, or in the wrong order. Mutants are made of the source, so nothing in the
// package knows of them.
type Mutant = struct {
	Name, File, Was, Is string // the file is relative to the package
	By                  string // the test that has to notice
}

// Mutants builds the tests of the package in the current directory over each mutant, and runs the one that has to fail.
func Mutants(t *testing.T, all []Mutant) {
	t.Helper()
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(m.File)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.Was); n != 1 {
				t.Fatalf("%s has what is to be changed %d times: %q", m.File, n, m.Was)
			}
			out, err := runMutant(t, m, strings.Replace(string(source), m.Was, m.Is, 1))
			switch {
			case err == nil:
				t.Errorf("%s: no test has noticed:\n%s", m.Name, out)
			case !strings.Contains(out, "--- FAIL: "+m.By):
				t.Errorf("%s: %s has not failed, but %v:\n%s", m.Name, m.By, err, out)
			}
		})
	}
}

// runMutant runs the test with one file of the package replaced. What is built is run once, so it is not optimized.
func runMutant(t *testing.T, m Mutant, source string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	changed, binary, overlay := filepath.Join(dir, filepath.Base(m.File)), filepath.Join(dir, "test"), filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{changed: []byte(source), overlay: list} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-N -l -dwarf=false", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%s: build: %v\n%s", m.Name, err, out)
	}
	out, err := exec.Command(binary, "-test.run", "^"+m.By+"$").CombinedOutput()
	return string(out[:min(len(out), 2000)]), err
}

package mounts

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMount mounts each kind twice: with existing files, and with files that it writes.
func TestMount(t *testing.T) {
	if !Own(t) {
		return
	}
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			m := k.Mount(t)
			for range 2 {
				dir := m.Tree(t, func(dir string) {
					if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old"), 0o644); err != nil {
						t.Fatal(err)
					}
				})
				if err := os.WriteFile(filepath.Join(dir, "b"), []byte("new"), 0o644); err != nil {
					t.Fatal(err)
				}
				for name, want := range map[string]string{"a": "old", "b": "new"} {
					if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
						t.Errorf("%s: %q, %v", name, data, err)
					}
				}
			}
		})
	}
}

package names_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/internal/names"
)

// If the separator of the system is a backslash, a name with a backslash is refused: the guard would see another path.
func TestClean_separator(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`.git\hooks\x`, `secrets\key.pem`, `src\..\other.txt`, `\x`, `..\x`, `a\b/..`, `a/..\..\..\x`, `a\`} {
		if got, err := names.CleanFor(name, '\\'); !errors.Is(err, names.ErrBadName) {
			t.Errorf("%s is clean on Windows: %s, %v", name, got, err)
		}
		if _, err := names.CleanFor(name, '/'); err != nil {
			t.Errorf("%s is not clean elsewhere: %v", name, err)
		}
	}
	if got, err := names.CleanFor("a//b/./c", '\\'); got != "a/b/c" || err != nil {
		t.Errorf("a name with slashes: %s, %v", got, err)
	}
}

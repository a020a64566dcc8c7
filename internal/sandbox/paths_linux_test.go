package sandbox

import (
	"errors"
	"testing"
)

// Without /proc a descriptor has no path, like a descriptor here that is not open. The error names the missing part.
func TestRealPath_withoutProc(t *testing.T) {
	if path, err := realPath(1 << 20); !errors.Is(err, errNoProc) {
		t.Errorf("%q, %v", path, err)
	}
}

package textdiff_test

import (
	"bytes"
	"testing"

	"github.com/millrace-go/millrace/internal/textdiff"
)

func TestIsBinary(t *testing.T) {
	t.Parallel()
	text := textdiff.Bytes("text")
	for n, want := range map[int]bool{0: true, 7999: true, 8000: false, 9000: false} {
		data := textdiff.Bytes(append(bytes.Repeat([]byte("x"), n), 0, 'x'))
		for _, sides := range [][2]textdiff.Source{{data, text}, {text, data}} {
			if got, err := textdiff.IsBinary(sides[0], sides[1]); got != want || err != nil {
				t.Errorf("a NUL at %d: got %v, %v, want %v", n, got, err, want)
			}
		}
	}
	if got, err := textdiff.IsBinary(textdiff.Bytes(nil), text); got || err != nil {
		t.Errorf("no content is binary: %v, %v", got, err)
	}
}

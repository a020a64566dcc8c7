package yamlform_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/yamlform"
)

// TestHints: a hint depends on the text at the position of the error, and another mistake does not get that hint.
func TestHints(t *testing.T) {
	const colon, halves, backslash, behind = `text with ": "`, "two halves", "a backslash is written twice", "closing quote"
	for value, hint := range map[string]string{
		`a: b`: colon, `say: what: else`: colon,
		`"\uD83D\uDE00"`: halves, `"\uDE00"`: halves, `"ü \ud83d"`: halves,
		`"\d+"`: backslash, `"über \. "`: backslash,
		`"a" b`: behind, `'a' b`: behind,
		`"\U00110000"`: "", `"\u12"`: "", `"\xg"`: "",
	} {
		_, err := yamlform.Decode(millrace.Decoder{}, []byte("name: p\nsteps:\n  - id: s\n    action: create\n    params:\n      path: a\n      content: "+value+"\n"))
		if err == nil {
			t.Errorf("%s is taken", value)
			continue
		}
		for _, one := range []string{colon, halves, backslash, behind} {
			if got := strings.Contains(err.Error(), one); got != (one == hint) {
				t.Errorf("%s: %q is in it: %v: %v", value, one, got, err)
			}
		}
	}
}

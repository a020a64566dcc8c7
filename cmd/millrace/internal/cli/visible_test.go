package cli

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/fsutil"
)

// Escaped JSON has the same meaning, and no characters with an effect on a terminal.
func TestVisibleJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(),
			rapid.RuneFrom([]rune("\u009b\u202e\u2066\ufeff\U000e0041\ufffd\x7fa\"\\\n")))).Draw(t, "text")
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		shown := visibleJSON(plain)
		if fsutil.Visible(string(shown)) != string(shown) {
			t.Errorf("%q is not visible", shown)
		}
		var back, want string
		if json.Unmarshal(shown, &back) != nil || json.Unmarshal(plain, &want) != nil || back != want {
			t.Errorf("%q became %q", want, back)
		}
	})
}

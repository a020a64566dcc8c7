package actions

import "testing"

// TestCheckGlob_backwards: a reversed range of characters is refused, and no other range.
func TestCheckGlob_backwards(t *testing.T) {
	for glob, want := range map[string]string{
		"[0- ]":         "0- ",
		"a/[!z-a]*.go":  "z-a",
		"[^ab-a]":       "b-a",
		"[!^-A]":        "^-A",
		`[\b-\a]`:       "b-a",
		`[a\]-\[]`:      "]-[",
		"{x,[é-e]}":     "é-e",
		"[a-cz-x]":      "z-x",
		"[a-a]":         "",
		"[a-z0-9_-]":    "",
		"[-a]":          "",
		"[!-a]":         "",
		"z-a":           "",
		`\[z-a]`:        "",
		"[a]z-a[b]":     "",
		"[a-c-a]":       "", // the second "-" is a minus
		"**/*.{go,mod}": "",
	} {
		if got := backwards(glob); got != want {
			t.Errorf("%s: %q, want %q", glob, got, want)
		}
		if err := checkGlob(glob); (err == nil) != (want == "") {
			t.Errorf("%s: %v", glob, err)
		}
	}
	wantText := "glob '[z-a]' has the range 'z-a', which goes backwards"
	if err := checkGlob("[z-a]"); err == nil || err.Error() != wantText {
		t.Errorf("%v, want %s", err, wantText)
	}
}

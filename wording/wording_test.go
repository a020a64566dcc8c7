package wording_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

var overwrite = wording.Part{Kind: "set_overwrite", Text: "set overwrite to replace it"}

// named is an error of its own type, with a message in parts.
type named struct{ name string }

func (e *named) message() *worded.Error {
	return worded.Errorf("%s is there; %v", e.name, overwrite)
}
func (e *named) Error() string      { return e.message().Error() }
func (e *named) As(target any) bool { return e.message().Give(target) }

func TestOf(t *testing.T) {
	t.Parallel()
	parted := worded.Errorf("%w; %v", fs.ErrExist, overwrite)
	tests := []struct {
		name           string
		err            error
		engine, prompt string
	}{
		{"no parts", errors.New("a"), "a", "a"},
		{"a part", parted, "file already exists; set overwrite to replace it", "file already exists; <set_overwrite>"},
		{"wrapped", fmt.Errorf("f: %w", parted), "f: file already exists; set overwrite to replace it",
			"f: file already exists; <set_overwrite>"},
		{"a path error", &fs.PathError{Op: "open", Path: "f", Err: parted},
			"open f: file already exists; set overwrite to replace it", "open f: file already exists; <set_overwrite>"},
		{"a type", fmt.Errorf("no: %w", &named{"f"}), "no: f is there; set overwrite to replace it",
			"no: f is there; <set_overwrite>"},
		{"twice", errors.Join(&named{"f"}, &named{"g"}),
			"f is there; set overwrite to replace it\ng is there; set overwrite to replace it",
			"f is there; <set_overwrite>\ng is there; <set_overwrite>"},
		{"a text of the user", worded.Errorf("%q; %v", overwrite.Text, overwrite),
			`"set overwrite to replace it"; set overwrite to replace it`, `"set overwrite to replace it"; <set_overwrite>`},
		{"within", worded.Errorf("f: %v", worded.Within("already: "+parted.Error(), fmt.Errorf("x: %w", parted))),
			"f: already: file already exists; set overwrite to replace it", "f: already: file already exists; <set_overwrite>"},
		{"within, but not", worded.Within("access denied", parted), "access denied", "access denied"},
		{"joined", worded.Join([]error{errors.New("a"), parted}, "; "),
			"a; file already exists; set overwrite to replace it", "a; file already exists; <set_overwrite>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.err.Error(); got != test.engine {
				t.Errorf("Error() = %q, want %q", got, test.engine)
			}
			got := wording.Of(test.err, func(p wording.Part) string { return "<" + string(p.Kind) + ">" })
			if got != test.prompt {
				t.Errorf("Of = %q, want %q", got, test.prompt)
			}
			parts := wording.Parts(test.err)
			if want := strings.Count(test.prompt, "<set_overwrite>"); len(parts) != want {
				t.Errorf("Parts = %v, want %d", parts, want)
			}
		})
	}
	if !errors.Is(fmt.Errorf("f: %w", parted), fs.ErrExist) {
		t.Error("the error does not wrap that of %w")
	}
	if (&named{"f"}).As(new(*fs.PathError)) {
		t.Error("a message is a *fs.PathError")
	}
	if data, err := json.Marshal(parted); err != nil || !strings.Contains(string(data), overwrite.Text) {
		t.Errorf("JSON is %s, %v", data, err)
	}
}

package docs_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/paramtags"
)

// TestDocsOwnAction: the code of docs/actions.md is in an example that runs, and its table has each word of the param
// tag.
func TestDocsOwnAction(t *testing.T) {
	text, err := os.ReadFile("docs/actions.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("mcpserver/example_action_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(code string) string {
		return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(strings.TrimSpace(code), "")
	}
	runs := flat(string(source))
	blocks := strings.Split(string(text), "```go\n")[1:]
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(runs, flat(code)) {
			t.Errorf("docs/actions.md has code that is not in the example:\n%s", code)
		}
	}
	if len(blocks) < 5 {
		t.Errorf("%d blocks of code", len(blocks))
	}
	words := reflect.TypeFor[paramtags.Param]()
	for i := range words.NumField() {
		word := strings.ToLower(words.Field(i).Name)
		if !regexp.MustCompile("(?m)^\\| `param:\"(required,)?" + word + "\"` \\|").Match(text) {
			t.Errorf("docs/actions.md does not list the word %q of the tag param", word)
		}
	}
}

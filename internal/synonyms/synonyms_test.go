package synonyms_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/synonyms"
)

func TestMeant(t *testing.T) {
	t.Parallel()
	edit := []string{"files", "old_text", "new_text", "mode"}
	write := []string{"path", "file_text", "old_str", "new_str", "insert_line", "start_line", "end_line", "dry-run"}
	for name, want := range map[string]string{
		"old_string": "old_text", "oldText": "old_text", "search": "old_text", "replace": "new_text", "file": "files",
		"mode": "mode", "quux": "",
	} {
		if got, ok := synonyms.Meant(name, edit); got != want || ok != (want != "") {
			t.Errorf("%s means %q, %v", name, got, ok)
		}
	}
	for name, want := range map[string]string{
		"content": "file_text", "old_text": "old_str", "file_path": "path", "offset": "start_line", "dry_run": "dry-run",
		"preview": "dry-run",
		"line":    "", // of two
	} {
		if got, ok := synonyms.Meant(name, write); got != want || ok != (want != "") {
			t.Errorf("%s means %q, %v", name, got, ok)
		}
	}
}

// No row has a name twice.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("old_text old_str new_text new_str pattern path files paths include " +
		"start_line end_line limit content file_text patch") {
		seen := map[string]bool{name: true}
		list := strings.Fields(synonyms.Of(name))
		if len(list) == 0 {
			t.Errorf("%s has no synonyms", name)
		}
		for _, s := range list {
			plain := strings.ToLower(strings.ReplaceAll(s, "_", ""))
			if seen[s] && s != name || seen[plain+" "] {
				t.Errorf("%s stands for %s twice", s, name)
			}
			seen[s], seen[plain+" "] = true, true
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	names := []string{"exclude", "include", "old_text"}
	for name, want := range map[string]string{
		"globs": "include", "old_string": "old_text", "exlude": "exclude", "quux": "",
	} {
		if got, ok := synonyms.Suggest(name, names); got != want || ok != (want != "") {
			t.Errorf("%s suggests %q, %v", name, got, ok)
		}
	}
}

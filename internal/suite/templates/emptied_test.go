package templates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestEmptied: a list that a template empties selects nothing, and the step warns of it. An empty list that the author
// wrote selects everything, even next to a template.
func TestEmptied(t *testing.T) {
	t.Parallel()
	for params, taken := range map[string]bool{
		`"search", "params": {"paths": "{{find.files}}", "pattern": "foo"}`:                             false,
		`"search", "params": {"paths": ["{{find.files}}"], "pattern": "foo"}`:                           false,
		`"search", "params": {"paths": ["{{find.files}}", "a.txt"], "pattern": "foo"}`:                  true,
		`"search", "params": {"include": "{{find.files}}", "pattern": "foo"}`:                           false,
		`"search", "params": {"file_types": "{{find.files}}", "pattern": "foo"}`:                        false,
		`"search", "params": {"exclude": "{{find.files}}", "pattern": "foo"}`:                           true,
		`"search", "params": {"paths": [], "include": [], "pattern": "foo{{find.aggregated_content}}"}`: true,
		`"list", "params": {"include": ["{{find.files}}"]}`:                                             false,
		`"list", "params": {"file_types": "{{find.files}}"}`:                                            false,
		`"list", "params": {"exclude": "{{find.files}}"}`:                                               true,
	} {
		p, err := millrace.Decode([]byte(`{"name": "p", "steps": [
			{"id": "find", "action": "search", "params": {"pattern": "absent"}},
			{"id": "all", "action": ` + params + `},
			{"id": "edit", "action": "edit", "input_from": "all", "params": {"old_text": "foo", "new_text": "bar"}}]}`))
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		fsys := suite.Tree("a.txt", "foo\n")
		res, err := millrace.Run(t.Context(), fsys, p)
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		if all := res.Results[1]; all.Skipped || slices.Contains(all.FilesMatched, "a.txt") != taken || res.TotalEdits > 0 != taken {
			t.Errorf("%s: %+v, %d edits", params, all, res.TotalEdits)
		}
		warned := strings.Join(res.AllWarnings(), "\n")
		if strings.Contains(warned, "{{find.files}} is an empty list") == taken {
			t.Errorf("%s: warnings %q", params, warned)
		}
	}
}

// The same holds for an action built in Go.
func TestEmptiedInGo(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("find", actions.Search{Pattern: "absent"}).
		Step("none", actions.Search{Pattern: "foo", Paths: []string{"{{find.files}}"}}).
		Step("all", actions.Search{Pattern: "foo", Paths: []string{}, Include: []string{}}).MustBuild()
	res, err := millrace.Run(t.Context(), suite.Tree("a.txt", "foo\n"), p)
	if err != nil || len(res.Results[1].FilesMatched) != 0 || len(res.Results[2].FilesMatched) != 1 {
		t.Errorf("%v, %+v", err, res)
	}
}

package revise_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestRevise_taken: a reviewer's text that equals some matches of the steps belongs to the steps, also in a stored
// plan. A text with one more letter belongs to the reviewer.
func TestRevise_taken(t *testing.T) {
	t.Parallel()
	words := []string{"foo", "bar", "foo", "bar", "foo"}
	fresh := map[string]string{"foo": "fooo", "bar": ""}
	author := map[string]change.Origin{"foo": {Step: "s0"}, "bar": {Step: "s1"}}
	for mask := 1; mask < 1<<len(words)-1; mask++ {
		fsys, plan := planOf(t, strings.Join(words, ",")+"\n",
			actions.Edit{Files: []string{"a.txt"}, OldText: "foo", NewText: "fooo"},
			actions.Edit{Files: []string{"a.txt"}, OldText: "bar", NewText: ""})
		some, edits := make([]string, len(words)), 0
		authors := make(map[change.Origin]bool)
		for i, w := range words {
			if some[i] = w; mask>>i&1 == 1 {
				some[i] = fresh[w]
				authors[author[w]] = true
				edits++
			}
		}
		for _, own := range []string{"", "!"} {
			text := strings.Join(some, ",") + own + "\n"
			revised, err := plan.Revise("a.txt", millrace.Part{Hunk: hunksOf(t, plan)[0], Text: &text})
			if err != nil {
				t.Fatal(err)
			}
			data, err := revised.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			stored, err := millrace.Executor{}.OpenPlan(t.Context(), fsys, data)
			if err != nil {
				t.Fatal(err)
			}
			for name, p := range map[string]*millrace.Plan{"the plan": revised, "the stored plan": stored} {
				got := make(map[change.Origin]bool)
				for _, h := range hunksOf(t, p) {
					for _, o := range h.By {
						got[o] = true
					}
				}
				want, count := authors, edits
				if own != "" {
					want, count = map[change.Origin]bool{{Step: "(review)"}: true}, 1
				}
				if diff := cmp.Diff(want, got); diff != "" || p.Result().TotalEdits != count {
					t.Errorf("%s, %q: %d edits, want %d; authors (-want +got):\n%s", name, text, p.Result().TotalEdits, count, diff)
				}
			}
			if own == "" {
				if _, err := stored.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := suite.Read(t, fsys, "a.txt"); got != text {
					t.Errorf("the file is %q, want %q", got, text)
				}
			}
		}
	}
}

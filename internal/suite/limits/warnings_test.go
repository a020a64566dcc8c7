package limits_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestManyWarnings: if there are more warnings than fit, the first in order are reported, whatever order they were
// added in, and the rest are counted.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	const all, told = 100, 12 // 80 bytes each, in an eighth of what the step may show
	var want []string
	for i := range told {
		want = append(want, fmt.Sprintf("%016d", i))
	}
	want = append(want, fmt.Sprintf("and %d more warnings", all-told))
	for name, order := range map[string]func(i int) int{
		"forth": func(i int) int { return i }, "back": func(i int) int { return all - 1 - i }, "mixed": func(i int) int { return i * 37 % all },
	} {
		p := suite.One(suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			for i := range all {
				c.Warnf("%016d", order(i))
			}
			return actions.Outcome{}, nil
		}})
		res, err := millrace.Executor{Limits: actions.Limits{MaxShownBytes: 8 * (told*80 + 79)}}.Run(t.Context(), suite.Tree("a", "a"), p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, res.Results[0].Warnings); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

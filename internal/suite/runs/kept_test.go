package runs_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// keeper keeps a text in Validate, and records the kept text in Run.
type keeper struct {
	Word string `json:"word"`
	seen *seen
}

type seen struct {
	mu   sync.Mutex
	kept []any
}

func (keeper) Spec() actions.Spec {
	return actions.Spec{Name: "keeper", Summary: "keeps", ReadOnly: true}
}

func (k keeper) Validate(c *actions.Check) { c.Keep = "made of " + k.Word }

func (k keeper) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	k.seen.kept = append(k.seen.kept, c.Kept)
	return actions.Outcome{Files: []string{"a.txt"}}, nil
}

// Run gets the text that Validate has kept for the same values.
func TestKept(t *testing.T) {
	t.Parallel()
	all := new(seen)
	p := millrace.New("keeps").
		Step("plain", keeper{Word: "word", seen: all}).
		Step("filled", keeper{Word: "{{plain.files}}", seen: all}).
		Step("raw", keeper{Word: "{{plain.files}}", seen: all}).Raw().
		MustBuild()
	for range 2 {
		if _, err := millrace.Run(t.Context(), afero.NewMemMapFs(), p); err != nil {
			t.Fatal(err)
		}
	}
	want := []any{"made of word", "made of a.txt", "made of {{plain.files}}"}
	if want = append(want, want...); !slices.Equal(all.kept, want) {
		t.Errorf("kept is %q, want %q", all.kept, want)
	}
}

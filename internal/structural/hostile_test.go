package structural_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/structural"
)

// hostileTexts would take a time that is not proportional to their size, if the searches for ends were not counted.
func hostileTexts(n int) []struct{ lang, text string } {
	nested := strings.Repeat("\"${\n", 60) + strings.Repeat("}\n", 61)
	return []struct{ lang, text string }{
		{"hcl", nested},
		{"kotlin", nested},
		{"dart", nested},
		{"javascript", "`${" + strings.Repeat("\\`", n)},
		{"javascript", strings.Repeat("/[", n)},
		{"ruby", strings.Repeat("/[", n)},
		{"perl", strings.Repeat("/[", n) + "\n"},
		{"swift", strings.Repeat("#", n)},
		{"shell", strings.Repeat("<<A ", n)},
		{"shell", strings.Repeat("<<A ", n) + "\n" + strings.Repeat("x\n", n) + "A\n"},
	}
}

// TestHostileTexts: searches for ends stop when too many bytes were searched in vain, or again and again.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, c := range hostileTexts(1 << 16) {
		lang, err := structural.Named(c.lang)
		if err != nil {
			t.Fatal(err)
		}
		lost, err := structural.Lost(t.Context(), []byte(c.text), lang)
		if most := 32*len(c.text) + 4096; err != nil || lost <= 8*len(c.text) || lost > most {
			t.Errorf("%s, %.8q: %d bytes were lost of %d, %v", c.lang, c.text, lost, len(c.text), err)
		}
	}
}

// TestNestedComments: a search for the ends of comments in comments does not stop early.
func TestNestedComments(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	p := parse(t, "rust", "f(:[x])")
	text := strings.Repeat("/* ", n) + strings.Repeat("*/", n) + "/* f(1) /*/ f(2) */*/ f(3)"
	if got := found(t, p, text, ""); len(got) != 1 || got[0] != "f(3)" {
		t.Errorf("%q", got)
	}
}

// patience is a context that ends after a number of calls of Err.
type patience struct {
	context.Context
	left int
}

func (p *patience) Err() error {
	if p.left--; p.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestHostileTextEnds: a search for ends stops when its context has ended.
func TestHostileTextEnds(t *testing.T) {
	t.Parallel()
	lang, err := structural.Named("javascript")
	if err != nil {
		t.Fatal(err)
	}
	text := "`${" + strings.Repeat("\\`", 1<<20)
	if _, err := structural.Lost(&patience{t.Context(), 3}, []byte(text), lang); !errors.Is(err, context.Canceled) {
		t.Errorf("the search went on: %v", err)
	}
}

// TestCommentsAreSteps: each look at a comment is a step.
func TestCommentsAreSteps(t *testing.T) {
	t.Parallel()
	p := parse(t, "go", "f(:[a...], :[b~x])")
	err := p.Find(t.Context(), []byte("f("+strings.Repeat("/**/", 10_000)+")"), "", func([]int) bool { return true })
	if steps, ok := errors.AsType[*structural.StepsError](err); !ok || steps.Text {
		t.Errorf("%v", err)
	}
}

// asked is a context that ends when Done is called.
type asked struct {
	context.Context
	done chan struct{}
	err  error
}

func (a *asked) Done() <-chan struct{} {
	a.err = context.Canceled
	return a.done
}

func (a *asked) Err() error { return a.err }

// TestLongTexts: one long text at a time is compared with a pattern, and the memory for it is not kept.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	p := parse(t, "go", "f(:[x])")
	long := []byte("f(1)" + strings.Repeat("\n;", 1<<20))
	ended := make(chan struct{})
	close(ended)
	var second error
	within := 0
	if err := p.Find(t.Context(), long, "", func([]int) bool {
		second = p.Find(&asked{t.Context(), ended, nil}, long, "", func([]int) bool { return true })
		within += len(found(t, p, "f(2)", ""))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(second, context.Canceled) || within != 1 {
		t.Errorf("the second long text: %v; %d matches in a short one", second, within)
	}
	if got := found(t, p, string(long), ""); len(got) != 1 {
		t.Errorf("%d matches after that", len(got))
	}
	for range 4 {
		if n := p.Kept(); n > 1<<18 {
			t.Errorf("memory for %d tokens is kept", n)
		}
	}
}

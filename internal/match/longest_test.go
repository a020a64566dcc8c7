package match_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// longest compiles a regular expression in the syntax of package regexp. It returns nil if that refuses it.
func longest(t testing.TB, source string, words []rune) *match.Longest {
	t.Helper()
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	p, err := match.CompileLongest(tree, words)
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return p
}

func eachOf(t testing.TB, p *match.Longest, data []byte, groups int) [][]int {
	t.Helper()
	var list [][]int
	if err := p.Each(t.Context(), data, groups, func(loc []int) bool { list = append(list, slices.Clone(loc)); return true }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLongestAgainstRegexp: with an automaton, with a cramped automaton and without any, the matches and their groups
// are those of package regexp after Longest.
func TestLongestAgainstRegexp(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	found := 0
	for n := range fstest.Slowed(300, fstest.Runs(3_000, 30_000, 1_000_000)) {
		g := grammar{rand.New(rand.NewPCG(seed+uint64(n), 11))}
		source := g.regex()
		re, err := regexp.Compile(source)
		if err != nil {
			continue
		}
		re.Longest()
		p := longest(t, source, nil)
		for range 3 {
			data := bytes.ToValidUTF8(g.text(30), []byte("é"))
			want := re.FindAllSubmatchIndex(data, -1)
			found += len(want)
			for how, p := range map[string]*match.Longest{"": p, "walking": match.Walks(p), "cramped": match.Cramped(p)} {
				if got := eachOf(t, p, data, re.NumSubexp()); !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("seed %d: %q %s on %q:\n got %v\nwant %v", seed+uint64(n), source, how, data, got, want)
				}
				if got, err := p.Contains(t.Context(), data); err != nil || got != (len(want) > 0) {
					t.Fatalf("seed %d: %q %s on %q: contains %v %v", seed+uint64(n), source, how, data, got, err)
				}
			}
		}
	}
	fstest.Countf(t, "%d matches", found)
}

// TestLongestBytes: a byte that belongs to no character is a character of its own.
func TestLongestBytes(t *testing.T) {
	t.Parallel()
	raw := func(b byte) *syntax.Regexp {
		return &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{match.RawByte + rune(b)}}
	}
	class := &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{0, 0xd7ff, 0xe000, 0x10ffff}}
	for name, test := range map[string]struct {
		tree *syntax.Regexp
		want [][]int
	}{
		"the byte":       {raw(0xe9), [][]int{{1, 2}}},
		"another byte":   {raw(0xc3), [][]int{{7, 8}}},
		"all characters": {class, [][]int{{0, 1}, {2, 4}, {4, 7}}},
	} {
		p, err := match.CompileLongest(test.tree, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := eachOf(t, p, []byte("a\xe9é\ufffd\xc3"), 0); !slices.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestLongestWords: word characters of any script determine where a word begins and ends.
func TestLongestWords(t *testing.T) {
	t.Parallel()
	const text = "été à_1, x-é"
	edge := &syntax.Regexp{Op: syntax.OpWordBoundary}
	inside := &syntax.Regexp{Op: syntax.OpNoWordBoundary}
	for name, test := range map[string]struct {
		tree *syntax.Regexp
		want string
	}{
		"begins":     {match.WordBegin(), "|été |à_1, |x-|é"},
		"ends":       {match.WordEnd(), "été| à_1|, x|-é|"},
		"boundaries": {edge, "|été| |à_1|, |x|-|é|"},
		"others":     {inside, "é|t|é à|_|1,| x-é"},
	} {
		p, err := match.CompileLongest(test.tree, []rune{'à', 'é'})
		if err != nil {
			t.Fatal(err)
		}
		for how, p := range map[string]*match.Longest{"": p, "walking": match.Walks(p)} {
			var out strings.Builder
			last := 0
			for _, loc := range eachOf(t, p, []byte(text), 0) {
				out.WriteString(text[last:loc[0]] + "|")
				last = loc[0]
			}
			if got := out.String() + text[last:]; got != test.want {
				t.Errorf("%s %s: %q, want %q", name, how, got, test.want)
			}
		}
	}
}

// TestLongestEndsWithItsContext: a search also ends with its context within one match.
func TestLongestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for source, unit := range map[string]string{`(?:x?){1000}y|x`: "x", `(?:x|y)*x(?:x|y){900}z`: "xxyxyyyxyyxx",
		`x.*q|x`: "x"} {
		p := longest(t, source, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		err := p.Each(ctx, append(bytes.Repeat([]byte(unit), 1<<20), "yz"...), 0, func([]int) bool { return true })
		cancel()
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > patience {
			t.Errorf("%s: %v after %v", source, err, took)
		}
	}
}

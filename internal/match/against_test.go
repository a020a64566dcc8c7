package match_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// finding returns all matches in a text, with their groups.
type finding func(data []byte) [][]int

// byRegexp finds the matches of package regexp.
func byRegexp(re *regexp.Regexp) finding {
	return func(data []byte) [][]int { return re.FindAllSubmatchIndex(data, -1) }
}

// expected returns the matches that another matcher finds in the text as the pattern sees it: without the "\r" of each
// "\r\n" if that counts as one line end.
func expected(p *match.Pattern, find finding, data []byte) [][]int {
	if !match.AnyEnd(p) {
		return find(data)
	}
	var seen []byte
	var at []int // for each visible byte, its offset, or the start of the line end that it belongs to
	for i, c := range data {
		if c == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			continue
		}
		place := i
		if c == '\n' && i > 0 && data[i-1] == '\r' {
			place--
		}
		seen, at = append(seen, c), append(at, place)
	}
	at = append(at, len(data))
	locs := find(seen)
	for _, loc := range locs {
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] = at[loc[i]]
			}
		}
	}
	return locs
}

// against compares a pattern with another matcher on one text, with every method of the pattern. It returns the number
// of matches.
func against(p *match.Pattern, find finding, data []byte) (matches int, err error) {
	ctx := context.Background()
	want := expected(p, find, data)
	var got [][]int
	found := contains(p, data)
	n, err := p.Count(ctx, match.Bytes(data), match.How{})
	if err != nil {
		return 0, err
	}
	if err := each(ctx, p, data, func(loc []int) bool { got = append(got, slices.Clone(loc)); return true }); err != nil {
		return 0, err
	}
	switch mayMatch, _ := p.Screen(); {
	case found != (len(want) > 0):
		return 0, fmt.Errorf("contains %v, but %d matches", found, len(want))
	case n != len(want):
		return 0, fmt.Errorf("count %d, want %d", n, len(want))
	case !slices.EqualFunc(got, want, slices.Equal):
		return 0, fmt.Errorf("got %v, want %v", got, want)
	case mayMatch != nil && len(want) > 0 && !mayMatch(data):
		return 0, fmt.Errorf("screened out, but %d matches", len(want))
	}
	// A match that ends at the end of a window is reported with that window.
	parts, inWindows := match.How{Sizes: match.Sizes{Whole: -1, Window: 64}}, 0
	err = p.Find(ctx, match.Bytes(data), parts, func(*match.Window, []int) bool { inWindows++; return true })
	if err != nil || inWindows != len(want) {
		return 0, fmt.Errorf("found %d in windows (%w), want %d", inWindows, err, len(want))
	}
	if n, err := p.Count(ctx, match.Bytes(data), parts); err != nil || n != len(want) {
		return 0, fmt.Errorf("counted %d in windows (%w), want %d", n, err, len(want))
	}
	return len(want), nil
}

// TestAgainstRegexp compares random regular expressions on random texts with package regexp: short texts, and texts
// long enough to be searched in parts, with much and little memory for states.
func TestAgainstRegexp(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	g := grammar{rand.New(rand.NewPCG(seed, 1))}
	patterns, machines, texts, long, matching := 0, 0, 0, 0, 0
	for patterns < fstest.Slowed(100, fstest.Runs(400, 4_000, 1_000_000)) {
		source := g.regex()
		p, err := match.Compile(source, match.Regex, match.Flags{})
		if err != nil {
			continue
		}
		re := regexp.MustCompile(source)
		patterns++
		if match.HasMachine(p) {
			machines++
		}
		room := 1 << 20
		if g.IntN(3) == 0 {
			room = 500 + g.IntN(4000)
			match.SetRoom(p, room)
		}
		if g.IntN(8) == 0 {
			p = match.Walking(p)
		}
		for range 8 {
			most := 12
			switch g.IntN(24) {
			case 0:
				most = 4000
			case 1, 2, 3:
				most = 100
			}
			data := g.text(most)
			n, err := against(p, byRegexp(re), data)
			if err != nil {
				t.Fatalf("seed %d: %q, room %d, in %q: %v", seed, source, room, data, err)
			}
			texts++
			if n > 0 {
				matching++
			}
			if len(data) > 512 {
				long++
			}
		}
	}
	if machines < patterns/2 || long == 0 || matching < texts/10 {
		t.Errorf("of %d patterns %d have a machine; of %d texts %d match and %d are long", patterns, machines, texts, matching, long)
	}
	fstest.Countf(t, "%d patterns (%d with a machine), %d texts, %d with matches, %d in parts", patterns, machines, texts, matching, long)
}

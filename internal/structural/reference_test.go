package structural_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/structural"
)

// piece is a part of a random pattern: a token, or a hole that matches any text.
type piece struct {
	text             string
	hole, many, deep bool
}

// reference finds matches by trying all possibilities, written for clarity and not for speed.
type reference struct {
	pieces []piece
	tokens []structural.Token
	data   string
	start  int
}

// from returns the token after the match of the pieces from i on, -1 for no match.
func (r *reference) from(i, t int) int {
	switch {
	case i == len(r.pieces):
		return t
	case !r.pieces[i].hole:
		if t == len(r.tokens) || r.tokens[t].Kind == "broken" || r.data[r.tokens[t].Start:r.tokens[t].End] != r.pieces[i].text {
			return -1
		}
		return r.from(i+1, t+1)
	case i == len(r.pieces)-1:
		end := t
		for next := r.unit(i, end); next >= 0; next = r.unit(i, end) {
			end = next
		}
		for end > t && r.data[r.tokens[end-1].Start] == ',' {
			end--
		}
		return end
	}
	for ; t >= 0; t = r.unit(i, t) {
		if end := r.from(i+1, t); end >= 0 {
			return end
		}
	}
	return -1
}

// unit returns the token after the one at t, or after its pair, -1 if a hole cannot match it.
func (r *reference) unit(i, t int) int {
	p := r.pieces[i]
	if t == len(r.tokens) || r.tokens[t].Kind == "close" || r.tokens[t].Kind == "broken" {
		return -1
	}
	if r.tokens[t].Line && !p.deep && !p.many && (i > 0 || t > r.start) {
		return -1
	}
	if r.tokens[t].Kind == "open" {
		return r.tokens[t].Pair + 1
	}
	return t + 1
}

func (r *reference) find() (all []string) {
	for r.start = 0; r.start < len(r.tokens); {
		kind := r.tokens[r.start].Kind
		end := -1
		if !r.pieces[0].hole || kind != "close" && kind != "broken" {
			end = r.from(0, r.start)
		}
		if end < 0 {
			r.start++
			continue
		}
		all = append(all, r.data[r.tokens[r.start].Start:r.tokens[max(end, r.start+1)-1].End])
		r.start = max(end, r.start+1)
	}
	return all
}

// chooser chooses a number below n.
type chooser interface{ IntN(n int) int }

// randomPieces returns a pattern in which all brackets are paired and no two holes are adjacent, nil if none is found.
func randomPieces(r chooser) []piece {
	for range 1_000 {
		var all []piece
		depth, literals := 0, 0
		for range 1 + r.IntN(7) {
			switch k := r.IntN(8); {
			case k < 3 && (len(all) == 0 || !all[len(all)-1].hole):
				all = append(all, piece{hole: true, many: r.IntN(3) == 0, deep: depth > 0})
			case k < 5:
				all, literals = append(all, piece{text: "ab"[r.IntN(2):][:1]}), literals+1
			case k == 5:
				all, literals = append(all, piece{text: ","}), literals+1
			case k == 6:
				all, depth, literals = append(all, piece{text: "("}), depth+1, literals+1
			case depth > 0:
				all, depth = append(all, piece{text: ")"}), depth-1
			}
		}
		for ; depth > 0; depth-- {
			all = append(all, piece{text: ")"})
		}
		if literals > 0 {
			return all
		}
	}
	return nil
}

// choices are numbers that a fuzzer chose, followed by zeros.
type choices []byte

func (c *choices) IntN(n int) int {
	if len(*c) == 0 {
		return 0
	}
	k := int((*c)[0]) % n
	*c = (*c)[1:]
	return k
}

func randomWords(r chooser) string {
	var text strings.Builder
	for range r.IntN(24) {
		text.WriteString([]string{"a ", "b ", ", ", "(", ")", "\n", "(a, b)"}[r.IntN(7)])
	}
	return text.String()
}

// likeReference compares the matches of a pattern in a text with those of the reference, and returns their number.
func likeReference(t *testing.T, lang *structural.Language, pieces []piece, data string) int {
	t.Helper()
	var pattern []string
	for _, p := range pieces {
		switch {
		case p.many:
			pattern = append(pattern, ":[_...]")
		case p.hole:
			pattern = append(pattern, ":[_]")
		default:
			pattern = append(pattern, p.text)
		}
	}
	source := strings.Join(pattern, " ")
	p, err := structural.Parse(source, lang, false)
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	tokens, err := structural.Lex([]byte(data), lang)
	if err != nil {
		t.Fatal(err)
	}
	want := (&reference{pieces: pieces, tokens: tokens, data: data}).find()
	if got := found(t, p, data, ""); !slices.Equal(got, want) {
		t.Fatalf("%q in %q: got %q; want %q", source, data, got, want)
	}
	return len(want)
}

// FuzzAgainstReference is TestAgainstReference for a fuzzer.
func FuzzAgainstReference(f *testing.F) {
	f.Add([]byte{3, 3, 0, 0, 5}, []byte{5, 0, 1, 6})
	f.Add([]byte{6, 6, 0, 0, 5, 7}, []byte{9, 3, 0, 2, 1, 4, 5, 0})
	f.Fuzz(func(t *testing.T, pattern, text []byte) {
		lang, err := structural.Named("c")
		if err != nil {
			t.Fatal(err)
		}
		if pieces := randomPieces((*choices)(&pattern)); pieces != nil {
			likeReference(t, lang, pieces, randomWords((*choices)(&text)))
		}
	})
}

// FuzzPattern: any pattern ends in any text without a panic, finds whole matches in order, and the same ones without
// the search for tokens in a row.
func FuzzPattern(f *testing.F) {
	for i, c := range cases {
		if i%10 == 0 {
			f.Add(c.lang, c.pattern, c.text)
		}
	}
	f.Fuzz(func(t *testing.T, name, pattern, text string) {
		lang, err := structural.Named(name)
		if err != nil {
			return
		}
		p, err := structural.Parse(pattern, lang, false)
		if err != nil {
			return
		}
		all := func() (places [][2]int, err error) {
			end := 0
			err = p.Find(t.Context(), []byte(text), "", func(loc []int) bool {
				if loc[0] < end || loc[1] < loc[0] || loc[1] > len(text) {
					t.Fatalf("a match goes from %d to %d, after a match that ends at %d", loc[0], loc[1], end)
				}
				for i := 2; i+1 < len(loc); i += 2 {
					if loc[i] >= 0 && (loc[i] > loc[i+1] || loc[i+1] > len(text)) {
						t.Fatalf("hole %d goes from %d to %d", i/2, loc[i], loc[i+1])
					}
				}
				end = loc[1]
				places = append(places, [2]int(loc))
				return true
			})
			return places, err
		}
		got, err := all()
		if err != nil {
			return // a limit
		}
		p.Everywhere()
		if want, err := all(); err == nil && !slices.Equal(got, want) {
			t.Fatalf("%d matches, and %d without the search for tokens in a row", len(got), len(want))
		}
	})
}

// TestAgainstReference compares matches of random patterns in random texts with those of a matcher that tries all
// possibilities.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 2))
	lang, err := structural.Named("c")
	if err != nil {
		t.Fatal(err)
	}
	matching := 0
	runs := fstest.Runs(3_000, 30_000, 500_000)
	for range runs {
		if likeReference(t, lang, randomPieces(r), randomWords(r)) > 0 {
			matching++
		}
	}
	if matching < runs/10 {
		t.Errorf("of %d texts, %d have matches", runs, matching)
	}
}

// Searches with hostile patterns and texts end, in a time proportional to both.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 1 << 17
	holes := "f(" + strings.Repeat(":[_], ", 900) + "z)"
	for _, pattern := range []string{"f(:[a])", holes, "a :[x...] b :[y...] c :[z...] d", ":[x] == :[y]", "(:[x])"} {
		p := parse(t, "go", pattern)
		for _, unit := range []string{"(", ")", "((((]", "a ", "f(", "f(a, ", "a b c ", "\"", "/*", "`", "a == \n", "{\n",
			"'"} {
			text := strings.Repeat(unit, size/len(unit)/max(1, len(pattern)/200))
			if err := p.Find(t.Context(), []byte(text), "", func([]int) bool { return true }); err != nil {
				t.Errorf("%.20q in %q: %v", pattern, unit, err)
			}
		}
	}
	for _, pattern := range []string{strings.Repeat(":[_], ", 1001) + "z", strings.Repeat("a", structural.MaxPattern+1)} {
		if _, err := structural.Parse(pattern, nil, false); err == nil {
			t.Errorf("%.20q is accepted", pattern)
		}
	}
}

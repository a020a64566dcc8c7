package match_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// streamTexts are the parts of random texts, literal patterns and replacements.
var streamTexts = []string{"a", "b", "ab", "_", " ", "\n", "\n", "\r\n", "\r\n", "\r", "é", "\xe2", "\xff", "K", ""}

// streamParts are the parts of random regular expressions.
var streamParts = []string{
	"a", "b", "(a)", "[ab]", "[^a]", "a*", "b+?", "(a|ab)", "(ab|a)(b?)", "^", "$", `\b`, `\B`, ".", ".*", `\s`, `\S`, `\w+`, "(?:a|b|)", "é", `\r`, "[^\n]*", "[^\r\n]", `\z`, `\A`, "\n", "(?i:k)", "_?",
}

func randomText(r *rand.Rand, from []string, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(from[r.IntN(len(from))])
	}
	return b.String()
}

// randomPattern returns a pattern that compiles, and a replacement for it.
func randomPattern(r *rand.Rand) (*match.Pattern, match.Template) {
	for {
		flags := match.Flags{IgnoreCase: r.IntN(4) == 0}
		text := randomText(r, streamTexts, 3)
		if r.IntN(3) == 0 {
			if p, err := match.Compile(randomText(r, streamTexts, 4), match.Literal, flags); err == nil {
				return p, match.Text(text)
			}
			continue
		}
		flags.MultiLine, flags.DotAll = r.IntN(3) > 0, r.IntN(4) == 0
		mode := match.Regex
		if r.IntN(4) == 0 {
			mode = match.Auto
		}
		p, err := match.Compile(randomText(r, streamParts, 4), mode, flags)
		if err != nil {
			continue
		}
		if p.Mode() == match.Literal {
			return p, match.Text(text)
		}
		if t, err := match.ParseTemplate(text+"$0"+text, p.Parsed); err == nil {
			return p, t
		}
	}
}

// TestStreamProperty compares random texts, searched through windows of a few bytes, with the same texts searched as a
// whole: the same matches with the same groups, replaced by the same bytes.
func TestStreamProperty(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	streamed, matches := 0, 0
	var shared []byte // still with data of the previous text
	for round := range fstest.Slowed(2_000, fstest.Runs(20_000, 150_000, 5_000_000)) {
		p, tmpl := randomPattern(r)
		data := []byte(randomText(r, streamTexts, 30))
		if p.Streams() {
			streamed++
		}
		var want, got []string
		whole := p.Replacer(tmpl, &match.Window{Data: data})
		if err := each(t.Context(), p, data, func(loc []int) bool {
			want = append(want, fmt.Sprintf("%v %q", loc, whole.Replace(loc)))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		how := match.How{Sizes: match.Sizes{Whole: -1, Window: 1 + r.IntN(12)}, Template: &tmpl, Groups: true, Lines: true}
		if r.IntN(3) == 0 {
			how.Sizes.Line = 1 + r.IntN(12)
		}
		if round%2 == 0 {
			how.Buffer = &shared
		}
		seen := 0
		how.See = func([]byte) { seen++ }
		var piece *match.Replacer
		var pieceOff int64 = -1
		err := p.Find(t.Context(), slow{match.Bytes(data), iotest.OneByteReader(bytes.NewReader(data))}, how, func(at *match.Window, loc []int) bool {
			if piece == nil || at.Off != pieceOff {
				piece, pieceOff = p.Replacer(tmpl, at), at.Off
			}
			if !bytes.Equal(at.Data, data[at.Off:int(at.Off)+len(at.Data)]) ||
				at.Line != bytes.Count(data[:at.Off], []byte("\n")) {
				t.Fatal("a window differs from the text")
			}
			text := piece.Replace(loc)
			loc = slices.Clone(loc)
			for i := range loc {
				if loc[i] >= 0 {
					loc[i] += int(at.Off)
				}
			}
			got = append(got, fmt.Sprintf("%v %q", loc, text))
			return true
		})
		matches += len(want)
		if err != nil || seen == 0 || !slices.Equal(got, want) {
			t.Fatalf("seed %d, round %d: %s %q in %q, %+v: %v\ngot  %v\nwant %v", seed, round, p.Mode(), p.Source(), data, how.Sizes, err, got, want)
		}
	}
	if streamed < 1000 || matches < 1000 {
		t.Errorf("only %d patterns could be streamed, with %d matches", streamed, matches)
	}
	fstest.Countf(t, "%d random patterns and texts, %d matches", streamed, matches)
}

// TestStreams lists the kinds of patterns whose matches are found piece by piece.
func TestStreams(t *testing.T) {
	for _, test := range []struct {
		pattern string
		mode    match.Mode
		want    bool
	}{
		{"a text", match.Literal, true}, {"two\nlines", match.Literal, true}, {"two\r\nlines", match.Literal, true},
		{`old_(\w+)`, match.Regex, true}, {`(?m)^\t+x.*$`, match.Regex, true}, {`[^\n]*`, match.Regex, true}, {`a\b`, match.Regex, true},
		{`^a`, match.Regex, false}, {`a$`, match.Regex, false}, {`a\s`, match.Regex, false}, {`[^a]`, match.Regex, false},
		{`(?s)a.`, match.Regex, false}, {`a\nb`, match.Regex, false}, {`\Aa`, match.Regex, false},
		{"[^\n]x", match.Regex, true}, {"[^\n]x", match.Auto, false}, {`f(x)`, match.Auto, true},
	} {
		if got := compile(t, test.pattern, test.mode, match.Flags{}).Streams(); got != test.want {
			t.Errorf("%s %q: %v", test.mode, test.pattern, got)
		}
	}
}

// slow is a content that is read in the pieces that the reader returns.
type slow struct {
	match.Content
	r io.Reader
}

func (s slow) Open() (io.ReadCloser, error) { return io.NopCloser(s.r), nil }

func TestStreamEnds(t *testing.T) {
	how := match.How{Sizes: match.Sizes{Whole: -1, Window: 4, Line: 20}}
	line, text := compile(t, `a+`, match.Regex, match.Flags{}), compile(t, "a b", match.Literal, match.Flags{})
	long := strings.Repeat("a b ", 10)
	for _, test := range []struct {
		p       *match.Pattern
		content string
		want    int
		largest int // window
	}{
		{line, "a\n" + long[:18] + "\na\n", 7, 32},
		{line, "a\na\n" + long + "\n" + long + "\n", 22, 82},
		{line, "a\na\n" + long + long, 22, 80},
		{text, long, 10, 4 + 4<<10},
	} {
		largest := 0
		how.See = func(data []byte) { largest = max(largest, len(data)) }
		n, err := test.p.Count(t.Context(), match.Bytes(test.content), how)
		if err != nil || n != test.want || largest > test.largest {
			t.Errorf("%q: %d, want %d, in windows of %d: %v", test.content, n, test.want, largest, err)
		}
	}
	how.See = nil
	broken := errors.New("broken")
	all := func(*match.Window, []int) bool { return true }
	for _, p := range []*match.Pattern{line, text} {
		if err := p.Find(t.Context(), slow{match.Bytes(long), iotest.ErrReader(broken)}, how, all); !errors.Is(err, broken) {
			t.Errorf("the error of the reader: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Find(ctx, match.Bytes(long), how, all); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		n := 0
		err := p.Find(t.Context(), match.Bytes("a b\na b\na b\n"), how, func(*match.Window, []int) bool { n++; return n < 2 })
		if err != nil || n != 2 {
			t.Errorf("stopped: %d, %v", n, err)
		}
	}
}

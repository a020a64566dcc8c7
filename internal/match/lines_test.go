package match_test

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// backtracker is a backtracking matcher, written for clarity and not for speed. No line begins after the last line end
// of a text, and words consist of the letters, digits and marks of all scripts if a setting requests that.
type backtracker struct {
	prog    *syntax.Prog
	words   bool
	ends    bool // the pattern names the beginning or the end of the text
	places  int  // of a match and its groups
	visited map[[2]int]bool
	loc     []int
}

func newBacktracker(t *testing.T, source string, words bool) *backtracker {
	t.Helper()
	tree, err := syntax.Parse("(?m)"+source, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return &backtracker{prog: prog, words: words, ends: namesText(tree), places: 2 + 2*tree.MaxCap()}
}

func namesText(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText || slices.ContainsFunc(re.Sub, namesText)
}

func (s *backtracker) word(r rune) bool { return match.IsWord(r) && (s.words || r < utf8.RuneSelf) }

func (s *backtracker) holds(op syntax.EmptyOp, data []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(data[:at])
	after, _ := utf8.DecodeRune(data[at:])
	phantom := at == len(data) && at > 0 && data[at-1] == '\n'
	edge := (at > 0 && s.word(before)) != (at < len(data) && s.word(after))
	for one, holds := range map[syntax.EmptyOp]bool{
		syntax.EmptyBeginText:      at == 0,
		syntax.EmptyEndText:        at == len(data),
		syntax.EmptyBeginLine:      (at == 0 || data[at-1] == '\n') && !phantom,
		syntax.EmptyEndLine:        (at == len(data) || data[at] == '\n') && !phantom,
		syntax.EmptyWordBoundary:   edge,
		syntax.EmptyNoWordBoundary: !edge,
	} {
		if op&one != 0 && !holds {
			return false
		}
	}
	return true
}

// try runs the program from an instruction, the preferred branch first.
func (s *backtracker) try(data []byte, pc, at int) bool {
	if s.visited[[2]int{pc, at}] {
		return false
	}
	s.visited[[2]int{pc, at}] = true
	in := &s.prog.Inst[pc]
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return s.try(data, int(in.Out), at) || s.try(data, int(in.Arg), at)
	case syntax.InstCapture:
		old := s.loc[in.Arg]
		s.loc[in.Arg] = at
		if s.try(data, int(in.Out), at) {
			return true
		}
		s.loc[in.Arg] = old
		return false
	case syntax.InstEmptyWidth:
		return s.holds(syntax.EmptyOp(in.Arg), data, at) && s.try(data, int(in.Out), at)
	case syntax.InstMatch:
		s.loc[1] = at
		return true
	case syntax.InstNop:
		return s.try(data, int(in.Out), at)
	case syntax.InstFail:
		return false
	}
	r, width := utf8.DecodeRune(data[at:])
	return width > 0 && in.MatchRune(r) && s.try(data, int(in.Out), at+width)
}

func (s *backtracker) first(data []byte, from int) []int {
	for at := from; at <= len(data); {
		s.visited, s.loc = map[[2]int]bool{}, slices.Repeat([]int{-1}, s.places)
		if s.try(data, s.prog.Start, at) {
			s.loc[0] = at
			return s.loc
		}
		_, width := utf8.DecodeRune(data[at:])
		at += max(width, 1)
	}
	return nil
}

func (s *backtracker) find(data []byte) (all [][]int) {
	for pos, last := 0, -1; pos <= len(data); {
		loc := s.first(data, pos)
		if loc == nil {
			break
		}
		empty := loc[0] == loc[1]
		if pos = loc[1]; empty {
			_, width := utf8.DecodeRune(data[pos:])
			pos += max(width, 1)
		}
		phantom := loc[0] == len(data) && len(data) > 0 && data[len(data)-1] == '\n'
		if !empty || loc[0] != last && (s.ends || !phantom) {
			all = append(all, loc)
		}
		last = loc[1]
	}
	return all
}

// TestLinesAgainstBacktracker compares random regular expressions over lines with the backtracker, with and without
// words of all scripts.
func TestLinesAgainstBacktracker(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	g := grammar{rand.New(rand.NewPCG(seed, 11))}
	patterns, matching := 0, 0
	for patterns < fstest.Slowed(100, fstest.Runs(400, 4_000, 200_000)) {
		source, words := g.regex(), g.IntN(3) == 0
		given := source
		if words {
			given = "(?u)" + source
		}
		p, err := match.Compile(given, match.Regex, match.Flags{Lines: true})
		if err != nil {
			continue
		}
		patterns++
		if g.IntN(4) == 0 {
			p = match.Walking(p)
		}
		reference := newBacktracker(t, source, words)
		for range 8 {
			data := g.text(14)
			if g.IntN(3) == 0 {
				data = append(data, '\n')
			}
			n, err := against(p, reference.find, data)
			if err != nil {
				t.Fatalf("seed %d: %q in %q: %v", seed, given, data, err)
			}
			if n > 0 {
				matching++
			}
		}
	}
	if matching < patterns {
		t.Errorf("of %d patterns, %d texts have matches", patterns, matching)
	}
	fstest.Countf(t, "%d patterns, %d texts with matches", patterns, matching)
}

// TestLines has the positions of lines and words that people expect.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, text, template, want string
	}{
		{`^`, "a\nb\n", "> ", "> a\n> b\n"},
		{`^`, "a\r\nb\r\n", "> ", "> a\r\n> b\r\n"},
		{`^`, "a\nb", "> ", "> a\n> b"},
		{`^`, "", "> ", "> "},
		{`^`, "\n", "> ", "> \n"},
		{`$`, "a\nb\n", ";", "a;\nb;\n"},
		{`$`, "a\r\nb\r\n", ";", "a;\r\nb;\r\n"},
		{`\s+$`, "a  \nb\t\n", "", "a\nb\n"},
		{`[ \t]+$`, "a  \r\nb\t\r\n", "", "a\r\nb\r\n"},
		{`^$`, "a\n\nb\n", "-", "a\n-\nb\n"},
		{`x*`, "a\n", "-", "-a-\n"},
		{`\n^`, "a\n", "", "a\n"},
		{`\z`, "a\n", "end\n", "a\nend\n"},
		{`\A`, "", "top\n", "top\n"},
		{`\A`, "a\nb\n", "top\n", "top\na\nb\n"},
		{`(?-m)^`, "a\nb\n", "> ", "> a\nb\n"},
		{`(?u)\bän`, "än vergrößern\n", "X", "X vergrößern\n"},
		{`(?u)\bcaf\b`, "café caf\n", "X", "café X\n"},
		{`(?u)\be\x{301}\b`, "e\u0301t e\u0301\n", "X", "e\u0301t X\n"},
		{`(?iu)\bCAF\b`, "café caf\n", "X", "café X\n"},
		{`(?u)\Brn\b`, "vergrößern ern rn\n", "X", "vergrößeX eX rn\n"},
		{`(?u)\b`, "é\xff", "|", "|é|\xff"},
	} {
		p, err := match.Compile(test.pattern, match.Regex, match.Flags{Lines: true})
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		for _, sizes := range []match.Sizes{{}, {Whole: -1, Window: 2}} {
			if got := replacedBy(t, p, test.template, test.text, sizes); got != test.want {
				t.Errorf("%q in %q, %+v: got %q, want %q", test.pattern, test.text, sizes, got, test.want)
			}
		}
	}
}

// replacedBy returns a text with each match replaced by the same text.
func replacedBy(t *testing.T, p *match.Pattern, with, text string, sizes match.Sizes) string {
	t.Helper()
	var out []byte
	end := int64(0)
	err := p.Find(t.Context(), match.Bytes(text), match.How{Sizes: sizes}, func(at *match.Window, loc []int) bool {
		out = append(append(out, text[end:at.Off+int64(loc[0])]...), with...)
		end = at.Off + int64(loc[1])
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + text[end:]
}

package sed_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sed"
)

func parse(t testing.TB, o sed.Options, scripts ...string) *sed.Script {
	t.Helper()
	s, err := sed.Parse(scripts, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// edits lists the changes of a run as start-end:text.
func edits(t testing.TB, s *sed.Script, src string) ([]string, sed.Stats) {
	t.Helper()
	var list []string
	stats, err := s.Apply(t.Context(), strings.NewReader(src), sed.Bounds{}, func(start, end int64, text []byte) error {
		list = append(list, fmt.Sprintf("%d-%d:%s", start, end, text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, stats
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script, src string
		want        []string
		stats       sed.Stats
	}{
		{`s/a/bb/g`, "xaxa\na\n", []string{"1-2:bb", "3-4:bb", "5-6:bb"}, sed.Stats{Replacements: 3, Lines: 2}},
		{`s/a/b/2`, "aaa\n", []string{"1-2:b"}, sed.Stats{Replacements: 1, Lines: 1}},
		{`s/a/a/`, "a\n", nil, sed.Stats{Replacements: 1, Lines: 1}},
		{`s/x*/-/g`, "ab", []string{"0-0:-", "1-1:-", "2-2:-"}, sed.Stats{Replacements: 3, Lines: 1}},
		{`s/a/b/;s/x/y/`, "abcdex\n", []string{"0-6:bbcdey"}, sed.Stats{Replacements: 2, Lines: 1}},
		{`s/a/b/;s/b/a/`, "xay\n", nil, sed.Stats{Replacements: 2, Lines: 1}},
		{`2d`, "1\n2\n3\n", []string{"2-4:"}, sed.Stats{Lines: 3}},
		{`$d`, "1\n2", []string{"2-3:"}, sed.Stats{Lines: 2}},
		{`p`, "1\n2", []string{"0-0:1\n", "2-2:2\n"}, sed.Stats{Lines: 2}},
		{`s/1/x/p`, "1\n2\n", []string{"0-0:x\n", "0-1:x"}, sed.Stats{Replacements: 1, Lines: 2}},
		{"#n\n2p", "1\n2\n3\n", []string{"0-2:", "4-6:"}, sed.Stats{Lines: 3}},
		{`y/abc/xyz/`, "-a-c-\n", []string{"1-4:x-z"}, sed.Stats{Lines: 1}},
		{`2a x`, "1\n2\n3", []string{"4-4:x\n"}, sed.Stats{Lines: 3}},
		{`$a x`, "1\n2", []string{"3-3:\nx\n"}, sed.Stats{Lines: 2}},
		{"2i x\n1a y", "1\n2\n", []string{"2-2:y\n", "2-2:x\n"}, sed.Stats{Lines: 2}},
		{`2,3c x`, "1\n2\n3\n", []string{"2-4:", "4-5:x"}, sed.Stats{Lines: 3}},
		{`N;s/\n/,/`, "1\n2\n3\n", []string{"1-2:,"}, sed.Stats{Replacements: 1, Lines: 3}},
		{`s/1/a/;N`, "1\n2\n", []string{"0-1:a"}, sed.Stats{Replacements: 1, Lines: 2}},
		{`n;s/2/b/`, "1\n2\n", []string{"2-3:b"}, sed.Stats{Replacements: 1, Lines: 2}},
		{`2q`, "1\n2\n3\n4", []string{"4-7:"}, sed.Stats{Lines: 2}},
		{`2Q`, "1\n2\n3\n", []string{"2-4:", "4-6:"}, sed.Stats{Lines: 2}},
		{`s/zz/y/`, "a\nb\n\nc", nil, sed.Stats{Lines: 4}},
		{`s/c/y/`, "a\nb\n\nc", []string{"5-6:y"}, sed.Stats{Replacements: 1, Lines: 4}},
		{`s/c/y/`, "", nil, sed.Stats{}},
	} {
		got, stats := edits(t, parse(t, sed.Options{}, test.script), test.src)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q on %q: (-want +got)\n%s", test.script, test.src, diff)
		}
		if stats != test.stats {
			t.Errorf("%q on %q: %+v, want %+v", test.script, test.src, stats, test.stats)
		}
	}
}

// apply returns the result for a text.
func apply(t testing.TB, s *sed.Script, src []byte) ([]byte, sed.Stats, error) {
	var out []byte
	done := int64(0)
	stats, err := s.Apply(t.Context(), bytes.NewReader(src), sed.Bounds{}, func(start, end int64, text []byte) error {
		out = append(append(out, src[done:start]...), text...)
		done = end
		return nil
	})
	return append(out, src[done:]...), stats, err
}

func TestErrorsOfARun(t *testing.T) {
	t.Parallel()
	keep := func(int64, int64, []byte) error { return nil }
	short := parse(t, sed.Options{MaxLine: 100}, `s/a/aaa/g`)
	for name, src := range map[string]string{"long": strings.Repeat("b", 100) + "a", "grows": strings.Repeat("a", 40)} {
		_, err := short.Apply(t.Context(), strings.NewReader("x\n"+src), sed.Bounds{}, keep)
		if e, ok := errors.AsType[*sed.LineError](err); !ok || e.Line != 2 || e.Max != 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine := errors.New("mine")
	if _, err := short.Apply(t.Context(), strings.NewReader("a\n"), sed.Bounds{}, func(int64, int64, []byte) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("error of edit: %v", err)
	}
	_, err := parse(t, sed.Options{}, "p", "\n2s//x/").Apply(t.Context(), strings.NewReader("1\n2\n"), sed.Bounds{}, keep)
	if e, ok := errors.AsType[*sed.Error](err); !ok || e.Script != 1 || e.Line != 2 || e.Column != 1 {
		t.Errorf("empty pattern: %v", err)
	}
}

func TestErrorPlace(t *testing.T) {
	t.Parallel()
	_, err := sed.Parse([]string{"p", "s/a/b/\n  s/(/x/"}, sed.Options{})
	e, ok := errors.AsType[*sed.Error](err)
	if !ok || e.Script != 1 || e.Line != 2 || e.Offset != 15 || e.Text != "Unmatched ( or \\(" {
		t.Errorf("%+v", err)
	}
	if got, want := err.Error(), `script 2, line 2, column 9: Unmatched ( or \( (in the pattern "(", at character 2)`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_, err = sed.Parse([]string{"{p;{d}"}, sed.Options{})
	if e, ok := errors.AsType[*sed.Error](err); !ok || e.Offset != 0 || e.Text != "unmatched `{'" {
		t.Errorf("%v", err)
	}
	_, err = sed.Parse([]string{"p;D"}, sed.Options{})
	if e, ok := errors.AsType[*sed.Error](err); !ok || e.Offset != 2 || !e.Unsupported || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

func TestRE2(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{`s/a|ab/[&]/`, "abcd\n", "[a]bcd\n"}, // leftmost-first
		{`s/(a+?)(a*)/\U\2\E-\1/`, "aaa\n", "AA-a\n"},
		{`s/\d+/<&>/2g`, "1 22 333\n", "1 <22> <333>\n"},
		{`s/a*/x/g`, "baaac\n", "xbxcx\n"},
		{`s/A/x/Ig;s/ /\n/g;s/^b/y/Mg`, "aA b\n", "xx\ny\n"},
		{`s/\x41|\pL+/z/g`, "A é1\n", "z z1\n"},
		{`/^b/d;s|a\|b|x|`, "b\na|b\n", "x|b\n"},
	} {
		got, _, err := apply(t, parse(t, sed.Options{Syntax: sed.RE2}, test[0]), []byte(test[1]))
		if err != nil || string(got) != test[2] {
			t.Errorf("%q on %q: %q, %v, want %q", test[0], test[1], got, err, test[2])
		}
	}
	for _, script := range []string{`s/(/x/`, `s/a{1001}/x/`, `s/(a)\1/x/`, `s/(a)/\2/`} {
		if _, err := sed.Parse([]string{script}, sed.Options{Syntax: sed.RE2}); err == nil {
			t.Errorf("%q is accepted", script)
		}
	}
}

// Patterns that make other matchers explode. The test checks the result, and that there is one.
func TestHostilePatterns(t *testing.T) {
	fstest.OneGoroutine(t)
	t.Parallel()
	as := strings.Repeat("a", fstest.Slowed(20_000, 200_000))
	for _, test := range []struct{ script, src, want string }{
		{`s/(a*)*b/x/`, as, as},
		{`s/(a|aa)+$/[\1]/`, as, "[a]"},
		{`s/(a|a)*c/[\1]/`, as + "c", "[a]"},
		{`s/a*b|c/x/`, as + "c", as + "x"}, // every a could begin a match except for the end
		{`s/(a?){300}a{300}/[\1]/`, strings.Repeat("a", 300), "[]"},
		{`s/((((a*)*)*)*)*c/x/`, as, as},
		{`s/(x?){2000}y/z/`, strings.Repeat("x", 3000) + "y", strings.Repeat("x", 1000) + "z"},
		{`s/(.*)(.*)(.*)(.*)b/[\2]/`, as + "b", "[]"},
		{`s/` + strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000) + `/\9/`, "a", "a"},
	} {
		got, _, err := apply(t, parse(t, sed.Options{}, test.script), []byte(test.src))
		if err != nil || string(got) != test.want {
			t.Errorf("%.40q: %.40q, %v, want %.40q", test.script, got, err, test.want)
		}
	}
	for _, script := range []string{`s/((a{1000}){1000}){1000}/x/`, `s/(((((x{0,99}){0,99}){0,99}){0,99}){0,99})/x/`, `s/` + strings.Repeat("a", 60_000) + `/x/`, `s/(^(x?){99}){999}/x/`} {
		_, err := sed.Parse([]string{script}, sed.Options{})
		if e, ok := errors.AsType[*sed.Error](err); !ok || e.Text != "Regular expression too big" {
			t.Errorf("%.40q: %.80v", script, err)
		}
	}
}

// One script can run several times concurrently.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := parse(t, sed.Options{}, `s/(a|ab)(c|bcd)(d*)/[\1][\2][\3]/g;/x/,/y/s/\w+/\u&/g`)
	src := []byte(strings.Repeat("abcd x\nabcbcd\ny abcd\n", 50))
	want, _, err := apply(t, s, src)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan []byte)
	for range 8 {
		go func() {
			got, _, _ := apply(t, s, src)
			results <- got
		}()
	}
	for range 8 {
		if got := <-results; !slices.Equal(got, want) {
			t.Error("the result differs")
		}
	}
}

// endless repeats the same line, up to a number of bytes.
type endless struct {
	line string
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.line) <= len(p) && e.left > 0 {
		n += copy(p[n:], e.line)
		e.left -= len(e.line)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestReadersOfAnyKind: the boundaries of reads make no difference.
func TestReadersOfAnyKind(t *testing.T) {
	t.Parallel()
	s := parse(t, sed.Options{}, `s/b*/<&>/g`, `$d`, `/x/p`)
	src := "ab\n\nxb b\n" + strings.Repeat("y", fstest.Slowed(30_000, 300_000)) + "b\nlast"
	want, wantStats, err := apply(t, s, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{
		"byte by byte": iotest.OneByteReader(strings.NewReader(src)), "halves": iotest.HalfReader(strings.NewReader(src)), "data with its end": iotest.DataErrReader(strings.NewReader(src)),
	} {
		var out []byte
		done := int64(0)
		stats, err := s.Apply(t.Context(), r, sed.Bounds{}, func(start, end int64, text []byte) error {
			out = append(append(out, src[done:start]...), text...)
			done = end
			return nil
		})
		if out = append(out, src[done:]...); err != nil || stats != wantStats || !bytes.Equal(out, want) {
			t.Errorf("%s: %+v, want %+v, %v", name, stats, wantStats, err)
		}
	}
	broken := errors.New("broken")
	if _, err := s.Apply(t.Context(), io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), sed.Bounds{}, func(int64, int64, []byte) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestLinesThatAreLeftOut: skipping lines without the text that a script needs makes no difference.
func TestLinesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 22))
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(strings.Repeat("hay ", r.IntN(2000)))
		if r.IntN(4) == 0 {
			b.WriteString("needle")
		}
		b.WriteString(strings.Repeat("hay ", r.IntN(2000)) + "\n")
	}
	for _, scripts := range [][2]string{{`s/needle$/x/`, `1,$s/needle$/x/`}, {`/needle/{s/^/>/;d}`, `1,${/needle/d}`}} {
		got, gotStats, err := apply(t, parse(t, sed.Options{}, scripts[0]), []byte(b.String()))
		want, wantStats, failed := apply(t, parse(t, sed.Options{}, scripts[1]), []byte(b.String()))
		if err != nil || failed != nil || !bytes.Equal(got, want) || gotStats.Lines != wantStats.Lines {
			t.Errorf("%s: another result than %s: %+v %+v, %v %v", scripts[0], scripts[1], gotStats, wantStats, err, failed)
		}
	}
}

// TestPlaces: it finds the place and the delimiter of each value, which is % here.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const none, pattern, brackets, with, text = sed.Elsewhere, sed.InPattern, sed.InBrackets, sed.InReplacement, sed.BeginsText
	for script, want := range map[string][]sed.Place{
		"a %x":                          {{text, 0}},
		"a%%x":                          {{text, 0}, {none, 0}},
		"2{i\t%x\n}\n$!c  y%\n#%":       {{text, 0}, {none, 0}, {none, 0}},
		"2{i\t%x\n}\n":                  {{text, 0}},
		"s/a %/i %/%;y/a %/b %/;%a %z":  {{pattern, '/'}, {with, '/'}, {none, 0}, {with, '/'}, {with, '/'}, {none, 0}, {text, 0}},
		"/%/,\\|(|%a z\\\n%a x\na\\\n%": {{pattern, '/'}, {none, 0}, {none, 0}, {none, 0}},
		"a\ni %":                        {{text, 0}},
		"k\na %":                        {{none, 0}},
		"s,[%a%],[%],;/[^]%]%/d":        {{brackets, ','}, {brackets, ','}, {with, ','}, {brackets, '/'}, {pattern, '/'}},
		"s/\\[%a]/[[.].]]/":             {{pattern, '/'}},
		"s/[[.].]-%]%/x/":               {{brackets, '/'}, {pattern, '/'}},
		"s/[%/b/":                       {{brackets, '/'}},
		"/[[:alpha:]%]/s/x[/%]y/z/":     {{brackets, '/'}, {brackets, '/'}},
		"}%s|%":                         {{none, 0}, {none, 0}},
		"};s|%":                         {{pattern, '|'}},
	} {
		var got []sed.Place
		sed.PlacesOf(strings.Split(script, "%"), func(p sed.Place) string {
			got = append(got, p)
			return "1"
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", script, got, want)
		}
	}
}

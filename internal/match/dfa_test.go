package match_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

func FuzzAgainstRegexp(f *testing.F) {
	for i, source := range patterns {
		f.Add(source, []byte(grammarTexts[i%len(grammarTexts)]+"ab\r\nabc é\xffask\n"), uint16(0))
	}
	f.Add(`(?m)\s+$`, bytes.Repeat([]byte("a \r\nb"), 1000), uint16(900))
	f.Fuzz(func(t *testing.T, source string, data []byte, room uint16) {
		re, err := regexp.Compile(source)
		if err != nil || source == "" || len(source)*len(data) > 1<<20 {
			return
		}
		p, err := match.Compile(source, match.Regex, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		if room > 0 {
			match.SetRoom(p, int(room))
		}
		if _, err := against(p, byRegexp(re), data); err != nil {
			t.Errorf("%q in %q: %v", source, data, err)
		}
	})
}

// filler returns about n bytes of unremarkable lines.
func filler(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", r.IntN(8)), strings.Repeat("wo_rd ", r.IntN(12)))
	}
	return b.Bytes()
}

// longAtEnd joins the last of four equal parts into one line, so that nothing follows its first line end.
func longAtEnd(data []byte) []byte {
	size := len(data) / 4
	data = data[:4*size]
	last := data[3*size:]
	copy(last, bytes.ReplaceAll(last, []byte("\n"), []byte(" ")))
	last[size-1] = '\n'
	return data
}

// TestAcrossParts puts the beginning and the end of a match at every position of texts that are searched in parts.
func TestAcrossParts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	found := 0
	for _, source := range []string{
		`[B-H]EG[^X]*EN[A-E]`, `(?s)[B-H]EG.*EN[A-E]`, `[B-H]EG\s+EN[A-E]`, `[B-H]EG(\n| |wo_rd)*END`, `(?m)[B-H]EG$`, `(?m)^[D-H]ND$`, `[^\n]EN[C-E]`, `(?s)[B-H]EG.{0,700}?END`,
		`EN[A-E]\s*\z`, `(?m)[B-H]EG\s(^.*\n)*EN[A-E]$`, `\b[B-H]EG\b`,
	} {
		p, re := compile(t, source, match.Regex, match.Flags{}), regexp.MustCompile(source)
		for range fstest.Runs(20, 60, 10_000) {
			data := filler(r, 512+r.IntN([]int{300, 12 << 10}[r.IntN(2)]))
			if r.IntN(4) == 0 {
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
			}
			first := r.IntN(len(data))
			second := first + r.IntN(len(data)-first)
			if r.IntN(2) == 0 {
				second = min(len(data), first+r.IntN(1000))
			}
			end := []string{"END", "\nEND\n", "EN"}[r.IntN(3)]
			data = []byte(string(data[:first]) + " BEG\n" + string(data[first:second]) + end + string(data[second:]))
			if r.IntN(4) == 0 {
				data = longAtEnd(data)
			}
			n, err := against(p, byRegexp(re), data)
			if err != nil {
				t.Fatalf("%s: BEG at %d, END at %d of %d: %v\n%q", source, first, second, len(data), err, data)
			}
			found += n
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
	fstest.Countf(t, "%d matches", found)
}

// TestDenseAndSparse runs patterns over texts in which the text that is searched first is rare, then everywhere, then
// gone.
func TestDenseAndSparse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	for _, source := range []string{`\w+QZ\(`, `QZ\s+\w`, `QZ[^;]`, `(?m)^.*QZ$`, `(?i)qz|vv`, `(?i)kq`, `QZ`,
		`QZ(a|b)?\(`, `(?s)QZ.{3}QZ`} {
		p, re := compile(t, source, match.Regex, match.Flags{}), regexp.MustCompile(source)
		for range fstest.Runs(3, 8, 500) {
			var data []byte
			for range 6 {
				data = append(data, filler(r, r.IntN(5000))...)
				data = append(data, strings.Repeat([]string{"aQZ( QZ\n", "QZ ; ", "qz kQ vv Kq\n", "\u212aQ QZ"}[r.IntN(4)],
					r.IntN(400))...)
			}
			if _, err := against(p, byRegexp(re), data); err != nil {
				t.Fatalf("%s: %v in %q", source, err, data)
			}
		}
	}
}

// TestOnePatternInManyGoroutines searches different texts with one pattern at the same time.
func TestOnePatternInManyGoroutines(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`[a-c]{3}1`, `foo\s+b`, `ask|bab`, `(?m)(a|b)+$`} {
		p, re := compile(t, source, match.Regex, match.Flags{}), regexp.MustCompile(source)
		match.SetRoom(p, 2000)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				g := grammar{rand.New(rand.NewPCG(uint64(i), 2))}
				for range fstest.Runs(20, 60, 5_000) {
					data := g.text(300)
					if _, err := against(p, byRegexp(re), data); err != nil {
						t.Errorf("%s: %v in %q", source, err, data)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestHostileStates checks that expressions with very many states stay within limits and find the same matches.
func TestHostileStates(t *testing.T) {
	fstest.OneGoroutine(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	letters, few := make([]byte, 100_000), make([]byte, 100_000)
	for i := range letters {
		letters[i], few[i] = "abc\n"[r.IntN(4)], "ab"[r.IntN(2)]
	}
	long := make([]string, 4000)
	for i := range long {
		long[i] = fmt.Sprintf("w%dx", r.Uint32())
	}
	for _, test := range []struct {
		name, source string
		data         []byte
		gaveUp       bool
	}{
		{"set of positions", `(a|b)*a(a|b){20}[cd]`, few[:30_000], true},
		{"all positions", `(?s)a.{12}c`, letters, false},
		{"positions far back", `(?s)a.{16}d`, few, true},
		{"long repeat", `([ab]{0,30}c){0,30}\n\n\n\n\n\nabc`, letters[:5000], false}, // package regexp takes long
		{"very long alternation", strings.Join(long, "|"), letters, false},
		{"very long text", strings.Repeat("abcb", 16<<10), letters, false},
		{"many classes", strings.Repeat(`\pL\pN`, 100) + "abc", letters, false},
		{"nested", strings.Repeat("(a|", 300) + "b" + strings.Repeat(")*", 300) + "cc\n\nc", letters[:5000], false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := compile(t, test.source, match.Regex, match.Flags{})
			data := test.data
			if match.HasMachine(p) {
				const room, one = 1 << 20, 100 << 10
				used, gaveUp := match.Memory(p, data)
				if used > room+one || gaveUp != test.gaveUp {
					t.Errorf("%d bytes, gave up: %v", used, gaveUp)
				}
			}
			want := len(regexp.MustCompile(test.source).FindAllIndex(data, -1))
			for range 5 { // giving up is remembered
				if n, err := p.Count(context.Background(), match.Bytes(data), match.How{}); n != want || err != nil {
					t.Errorf("%d matches, %v, want %d", n, err, want)
				}
			}
			if contains(p, data) != (want > 0) {
				t.Errorf("contains %v, but %d matches", want == 0, want)
			}
		})
	}
}

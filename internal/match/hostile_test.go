package match_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// TestQuadraticPattern checks that a pattern whose matches together take quadratic time ends with the context, after at
// most one match.
func TestQuadraticPattern(t *testing.T) {
	fstest.OneGoroutine(t)
	data := bytes.Repeat([]byte("A"), 1<<20)
	p := compile(t, `.*[^A-Z]|[A-Z]`, match.Regex, match.Flags{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Count(ctx, match.Bytes(data), match.How{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestHostilePatterns checks that these patterns end, with the results of package regexp.
func TestHostilePatterns(t *testing.T) {
	fstest.OneGoroutine(t)
	for _, test := range []struct{ pattern, data string }{
		{`(a+)+$`, strings.Repeat("a", 1<<20) + "b"},
		{`(a|a)*b`, strings.Repeat("a", 1<<16)},
		{`x*`, strings.Repeat("é", 1<<12)},
		{`(?m)^$`, strings.Repeat("\n", 1<<12)},
		{`(?:a?){1000}a{1000}`, strings.Repeat("a", 1<<11)},
		{`(?i)needle`, strings.Repeat("NEEDLX", 1<<18) + "Needle"},
		{`(?i)needle`, strings.Repeat("NEEDLE", 1<<16)},
		{`needle|.`, strings.Repeat("ne", 1<<10)},
	} {
		p := compile(t, test.pattern, match.Regex, match.Flags{})
		n, err := p.Count(context.Background(), match.Bytes(test.data), match.How{})
		if want := len(regexp.MustCompile(test.pattern).FindAllStringIndex(test.data, -1)); n != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", test.pattern, n, err, want)
		}
	}
}

// TestManyMatches streams very many matches in a file with one line end; the time to find line ends must not add up.
func TestManyMatches(t *testing.T) {
	fstest.OneGoroutine(t)
	data := append([]byte("x\r\n"), bytes.Repeat([]byte("ab"), 1<<18)...)
	for _, source := range []string{`(?m)a(b|$)`, `(?m)(a)\n?b|$`} {
		p := compile(t, source, match.Regex, match.Flags{})
		r := p.Replacer(match.Text("\n"), &match.Window{Data: data})
		n := 0
		err := each(context.Background(), p, data, func(loc []int) bool { n += len(r.Replace(loc)); return true })
		// The last line has no line end, so it uses that of the line before. It has 1<<18 matches, and one at the first line
		// end if the pattern matches at a $; the one at the end would directly follow another match.
		want := 2 << 18
		if strings.HasSuffix(source, "$") {
			want += 2
		}
		if err != nil || n != want {
			t.Errorf("%s: %d bytes, %v, want %d", source, n, err, want)
		}
	}
	p := compile(t, "a\nb", match.Literal, match.Flags{})
	if contains(p, data) {
		t.Error("found a text that does not exist")
	}
}

func TestNearestIsBounded(t *testing.T) {
	for _, data := range []string{
		strings.Repeat("a", 64<<20), strings.Repeat("a b\n", 4<<20), strings.Repeat("A\n", 4<<20), strings.Repeat(" \t", 4<<20),
	} {
		for _, text := range []string{strings.Repeat("a", 1<<20), "a b\nc", strings.Repeat("a\n", 5000),
			strings.Repeat(" ", 5000) + "a"} {
			match.Nearest([]byte(data), text, 3)
		}
	}
}

// TestReplacerSize: the size is known before the text is made, except what adapting it to the line ends adds.
func TestReplacerSize(t *testing.T) {
	for _, test := range []struct{ pattern, replacement, data string }{
		{`(a+)(b)?`, "<$1|$2>$0", "aab a b ab"}, {`(a)`, "$$", "aaa"}, {`a`, "", "aaa"}, {`(?m)(a)$`, "x\n$1\n", "a\r\na\nb a\r\n"},
	} {
		p := compile(t, test.pattern, match.Regex, match.Flags{})
		tmpl, err := match.ParseTemplate(test.replacement, p.Parsed)
		if err != nil {
			t.Fatal(err)
		}
		r := p.Replacer(tmpl, &match.Window{Data: []byte(test.data)})
		n := 0
		_ = each(context.Background(), p, []byte(test.data), func(loc []int) bool {
			n++
			text := string(r.Replace(loc))
			if got, want := r.Size(loc), len(text)-strings.Count(text, "\r"); got != int64(want) {
				t.Errorf("%s: size %d of %q", test.pattern, got, text)
			}
			return true
		})
		if n == 0 {
			t.Errorf("%s matches nothing", test.pattern)
		}
	}
}

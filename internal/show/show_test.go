package show_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/show"
)

func TestShort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, short, quoted string }{
		{"", "", `""`},
		{"abc", "abc", `"abc"`},
		{"abcd", "abcd", `"abcd"`},
		{"abcde", "abcd...", `"abcd"...`},
		{"abcäe", "abc...", `"abc"...`},
		{"äää", "ää...", `"ää"...`},
		{"a\"\n", "a\"\n", `"a\"\n"`},
		{"\x80\x80\x80\x80\x80\x80", "\x80\x80\x80\x80...", `"\x80\x80\x80\x80"...`},
		{"😀😀", "😀...", `"😀"...`},
		{"a😀😀", "a...", `"a"...`},
	} {
		if got := show.Short(tt.text, 4); got != tt.short {
			t.Errorf("Short(%q) = %q, want %q", tt.text, got, tt.short)
		}
		if got := show.Quote(tt.text, 4); got != tt.quoted {
			t.Errorf("Quote(%q) = %q, want %q", tt.text, got, tt.quoted)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		most int
		want string
	}{{"", 0, ""}, {"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc..."}, {"ääää", 6, "ä..."}, {"abcd", 3, "..."}} {
		if got := show.Within(tt.text, tt.most); got != tt.want {
			t.Errorf("Within(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
	long := strings.Repeat("a", 100)
	if got, want := show.Name(long), long[:40]+"..."; got != want {
		t.Errorf("Name: %q", got)
	}
	if got, want := show.Pattern(long), long[:60]+"..."; got != want {
		t.Errorf("Pattern: %q", got)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("aä", 2)
	f.Add("\xff", 0)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most &= 0xff
		got, cut := show.Cut(text, most)
		switch {
		case got != text[:len(got)], cut != (len(got) < len(text)), len(got) > most:
			t.Errorf("Cut(%q, %d) = %q, %v", text, most, got, cut)
		case utf8.ValidString(text) && !utf8.ValidString(got):
			t.Errorf("Cut(%q, %d) = %q is in the middle of a character", text, most, got)
		case cut && len(got) < most-utf8.UTFMax:
			t.Errorf("Cut(%q, %d) = %q is too short", text, most, got)
		}
	})
}

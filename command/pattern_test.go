package command_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/command"
)

// permits reports whether an entry of Allow allows a command line. The programs belong to a Runner, so they need not
// exist.
func permits(t testing.TB, allow []string, words []string) bool {
	t.Helper()
	p := command.Policy{Allow: allow, Runner: runs(nil)}
	err := p.Permit(context.Background(), command.Command{Words: words})
	var denied *command.DeniedError
	if err != nil && !errors.As(err, &denied) {
		t.Fatalf("%q: %v", words, err)
	}
	return err == nil
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern string
		line    string // words separated by |
		want    bool
	}{
		{"gofmt -l *", "gofmt|-l|a.go|b.go", true},
		{"gofmt -l *", "gofmt|-l", true},
		{"gofmt -l *", "gofmt|-w|a.go", false},
		{"gofmt -l *", "gofmt", false},
		{"gofmt", "gofmt", true},
		{"gofmt", "gofmt|", false},
		{"gofmt", "gofmt2", false},
		{"  gofmt \t -l\n", "gofmt|-l", true},
		{"go test ./... -run=*", "go|test|./...|-run=TestX", true},
		{"go test ./... -run=*", "go|test|./...|-run=", true},
		{"go test ./... -run=*", "go|test|./...|-run=a|-exec=b", false},
		{"go test ./... -run=*", "go|test|./...|-exec=b", false},
		{"go * ./...", "go|vet|./...", true},
		{"go * ./...", "go|./...", false},
		{"go * ./...", "go|vet|-x|./...", false},
		{"a *.go", "a|x/y.go", true},
		{"a *.go", "a|x/y.go |b", false},
		{"a x*y*z", "a|xyz", true},
		{"a x*y*z", "a|x1y2y3z", true},
		{"a x*y*z", "a|xz", false},
		{"a ab*ba", "a|aba", false},
		{"a ab*ba", "a|abba", true},
		{"a ** b", "a|x|b", true},
		{"a * *", "a|x", true},
		{"a * *", "a", false},
		{"*", "anything|at|all", true},
		{"*", "./x", false},
		{"*", "/bin/x", false},
		{"go*", "gofmt", true},
		{"go*", "gofmt|-l", false},
		{"./x", "./x", true},
		{"./x", "x", false},
		{"x", "./x", false},
		{"./* *", "./x|y", true},
		{"./* *", "./a/x|y", false},
		{"./*/x", "./a/x", true},
		{"./a*/x", "./ab/x", true},
		{"./*", "./../x", false},
		{"./*/*/x", "./a/../x", false},
		{"/opt/*/bin/x", "/opt/1.2/bin/x", true},
		{"/opt/*/bin/x", "/opt/1/2/bin/x", false},
		{"/opt/*/bin/x", "/opt/../bin/x", false},
		{"/bin/x", "x", false},
		{"a 'b c' *", "a|b c|d", true},
		{"a 'b c' *", "a|b|c", false},
		{"a '*'", "a|*", true},
		{"a '*'", "a|b", false},
		{"a '*'", "a|*|b", false},
		{"a 'it''s'", "a|it's", true},
		{"a x'*'*", "a|x*1", true},
		{"a x'*'*", "a|x1", false},
		{"a ''", "a|", true},
		{"a ''", "a", false},
		{"a ''''", "a|'", true},
		{`a \*`, `a|\x`, true},
		{"a é*", "a|élan", true},
	} {
		if got := permits(t, []string{tt.pattern}, strings.Split(tt.line, "|")); got != tt.want {
			t.Errorf("%q allows %q: %v, want %v", tt.pattern, tt.line, got, tt.want)
		}
	}
}

func TestPatternsOfTheHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, want string }{
		{"", "it is empty"},
		{" \n", "it is empty"},
		{"a 'b", "a ' is not closed"},
		{"'' b", "the program has no name"},
		{".", "'.' is a directory"},
		{"..", "'..' is a directory"},
		{"./", "the program './' is not written as ./dir/name"},
		{"./a/../b", "the program './a/../b' is not written as ./dir/name"},
		{"./a//b", "the program './a//b' is not written as ./dir/name"},
		{"../a", "the program '../a' is neither a name nor an absolute path; a file of the tree is written ./../a"},
		{"bin/a", "the program 'bin/a' is neither a name nor an absolute path; a file of the tree is written ./bin/a"},
		{"/bin/../a", "the program '/bin/../a' is not written as it is: /a"},
		{"a\x00b", "it has a NUL byte"},
	} {
		p := command.Policy{Allow: []string{"a", tt.pattern}}
		want := "command policy: Allow[1] '" + tt.pattern + "': " + tt.want
		if err := p.Valid(); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		err := p.Permit(t.Context(), command.Command{Words: []string{"a"}})
		var denied *command.DeniedError
		if err == nil || errors.As(err, &denied) {
			t.Errorf("Permit says %v, which is not the fault of the policy", err)
		}
	}
}

// TestPatternOfALine: a pattern made from a command line allows this line, and no other.
func TestPatternOfALine(t *testing.T) {
	t.Parallel()
	word := rapid.StringOf(rapid.RuneFrom([]rune("ab*' \t\n\\\"$é-/.=")))
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.SampledFrom([]string{"a", "./a b/c", "/bin/a*", "it's", "a b", "*", "..."}).Draw(t, "program")
		words := append([]string{program}, rapid.SliceOfN(word, 0, 4).Draw(t, "words")...)
		other := append([]string{program}, rapid.SliceOfN(word, 0, 4).Draw(t, "other")...)
		allow := []string{command.Pattern(words...)}
		p := command.Policy{Allow: allow, Runner: runs(nil)}
		if err := p.Permit(context.Background(), command.Command{Words: words}); err != nil {
			t.Fatalf("%q does not allow %q: %v", allow, words, err)
		}
		same := strings.Join(words, "\x00") == strings.Join(other, "\x00")
		if err := p.Permit(context.Background(), command.Command{Words: other}); (err == nil) != same {
			t.Fatalf("%q on %q: %v", allow, other, err)
		}
	})
}

// TestStars compares stars with a simple, slow way to match them.
func TestStars(t *testing.T) {
	t.Parallel()
	var match func(pattern, word string) bool
	match = func(pattern, word string) bool {
		switch {
		case pattern == "":
			return word == ""
		case pattern[0] == '*':
			return match(pattern[1:], word) || word != "" && match(pattern, word[1:])
		}
		return word != "" && word[0] == pattern[0] && match(pattern[1:], word[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{1,7}`).Draw(t, "pattern")
		word := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "word")
		p := command.Policy{Allow: []string{"x " + pattern + " end"}, Runner: runs(nil)}
		err := p.Permit(context.Background(), command.Command{Words: []string{"x", word, "end"}})
		if (err == nil) != match(pattern, word) {
			t.Fatalf("%q on %q: %v", pattern, word, err)
		}
	})
}

package structural_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/structural"
)

var continued = strings.NewReplacer("\\\n", "", "\\\r\n", "")

// printedBack checks that the tokens of a text, with only layout between them, result in its bytes.
func printedBack(data []byte, lang *structural.Language) error {
	tokens, err := structural.Lex(data, lang)
	if err != nil {
		return err
	}
	end := 0
	for i, tok := range tokens {
		if tok.Start < end || tok.End <= tok.Start {
			return fmt.Errorf("token %d goes from %d to %d, after a token that ends at %d", i, tok.Start, tok.End, end)
		}
		if between := continued.Replace(string(data[end:tok.Start])); strings.Trim(between, " \t\r\n\f") != "" {
			return fmt.Errorf("%q before token %d is not layout", between, i)
		}
		end = tok.End
		switch paired := tok.Pair >= 0; {
		case paired != (tok.Kind == "open" || tok.Kind == "close"):
			return fmt.Errorf("token %d is of kind %s, and its pair is %d", i, tok.Kind, tok.Pair)
		case paired && (tokens[tok.Pair].Pair != i || (tok.Pair > i) != (tok.Kind == "open")):
			return fmt.Errorf("token %d has the pair %d, which has the pair %d", i, tok.Pair, tokens[tok.Pair].Pair)
		}
	}
	if rest := continued.Replace(string(data[end:])); strings.Trim(rest, " \t\r\n\f") != "" {
		return fmt.Errorf("%q after the last token is not layout", rest)
	}
	return nil
}

// fragments are the parts of random texts.
var fragments = []string{
	"f(", ")", "(", "[", "]", "{", "}", "a", "b", "foo", " ", "\n", "\r\n", "\t", ",", ";", "=", "==", "+", "-", ".",
	`"`, "'", "`", `"x"`,
	"'c'", "/*", "*/", "//", "#", "--", "<b>", "</b>", "<", ">", "<script>", "</script>", "```go\n", "```\n",
	"<<EOF\n", "EOF\n", "%w[", "${",
	"#{", `\`, "\\\n", "\\\r\n", "é", "\xff", "\U000F0000", "r#\"", "\"#", "'''", `"""`, "{-", "-}", "[[", "]]", "/", "0", "@",
	"$x", "if ", "return ",
}

func randomText(r *rand.Rand, most int) []byte {
	var text []byte
	for range r.IntN(most) {
		text = append(text, fragments[r.IntN(len(fragments))]...)
	}
	return text
}

func TestTokensGiveTheBytesBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	for range fstest.Runs(200, 5_000, 200_000) {
		text := randomText(r, 40)
		for _, name := range structural.Names() {
			lang, err := structural.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := printedBack(text, lang); err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
			fast, err := structural.Lex(text, lang)
			slow, err2 := structural.LexSlowly(text, lang)
			if err != nil || err2 != nil || !slices.Equal(fast, slow) {
				t.Fatalf("%s: %q is %v by the table of bytes, %v without", name, text, fast, slow)
			}
		}
	}
}

func TestLanguageOfFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a.go": "go", "x/go.mod": "go", "a.d.ts": "javascript", "a.TSX": "javascript", "Dockerfile": "dockerfile",
		"Dockerfile.dev": "dockerfile",
		"a/Makefile":     "makefile", "a": "text", "a.unknown": "text", ".bashrc": "shell", "README.md": "markdown",
		"a.h": "c", "b.rs": "rust",
	} {
		if got := structural.LanguageOf(file).Name(); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if _, err := structural.Named("cobol"); err == nil || !strings.Contains(err.Error(), "go, graphql") {
		t.Errorf("%v", err)
	}
	for _, name := range structural.Names() {
		if lang, err := structural.Named(name); err != nil || lang.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

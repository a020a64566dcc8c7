package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// citations match the numbers of documents that are not in this repository: sections with a letter, a number, a dot and
// a number, cases and findings such as X45 in a comment, numbered seeds and lists.
var citations = []*regexp.Regexp{
	regexp.MustCompile(`\bS[0-9]{1,2}\.[0-9]{1,3}\b`),
	regexp.MustCompile(`(?i)\bseeds? 0[0-9]{2}\b`),
	regexp.MustCompile(`\b(HOSTILE|FLOW|FRONT|FINDINGS|REQUIREMENTS|HOUSE)(\.md)? [0-9]`),
	regexp.MustCompile(`"0[0-9]{2} [a-z]`),
	regexp.MustCompile(`\bTest[A-Za-z]*_[A-Z]?[0-9]{2,3}(_|\b)`),
}

// inComment matches citations that count in comments only. In code they may be names or bytes in hexadecimal.
var inComment = regexp.MustCompile(`(^|[\s(])[BFRSTUWX][0-9]{1,2}([\s,.;:)]|$)`)

func cites(name, line string) string {
	if !strings.ContainsAny(line, "0123456789") {
		return "" // a quick answer for nine of ten lines
	}
	for _, re := range citations {
		if cited := re.FindString(line); cited != "" {
			return cited
		}
	}
	comment := line
	if strings.HasSuffix(name, ".go") {
		_, comment, _ = strings.Cut(line, "// ")
	}
	return strings.TrimSpace(inComment.FindString(comment))
}

// A reader of a comment can only look up documents in the repository or at an address, so the comment must contain the
// reason itself.
func TestNoCitations(t *testing.T) {
	t.Parallel()
	eachLine(t, func(name string, n int, line string) {
		if cited := cites(name, line); cited != "" && filepath.Base(name) != "citations_test.go" {
			t.Errorf("%s:%d: cites %s, which nobody can look up: write the reason", name, n, cited)
		}
	})
}

// eachLine calls do with every line of the Go files and the pages of the repository.
func eachLine(t *testing.T, do func(name string, n int, line string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	lines := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != root && (base == "testdata" || base[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".md" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(data), "\n") {
			lines++
			do(name, i+1, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines < 10_000 {
		t.Errorf("only %d lines were read", lines)
	}
}

func TestCites(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"// see S" + "0.33", "func TestHostile_001_words(t *testing.T) {", "// as in seed " + "000", "// F12: the lock", "x++ // (X" + "22)", "// HOSTILE 56", `"071 in place": nil,`,
	} {
		if cites("a.go", line) == "" {
			t.Errorf("%q cites nothing", line)
		}
	}
	for _, line := range []string{
		`"A1 B22"`, "// U+2028 and U+2029", "// ISO 8601, UTF-8, SHA-256", "x := B2", "// a seed of 7",
	} {
		if cited := cites("a.go", line); cited != "" {
			t.Errorf("%q cites %s", line, cited)
		}
	}
}

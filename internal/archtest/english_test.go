package archtest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// englishRule is a rule for sentences that a regular expression can hold.
type englishRule struct {
	name, better string
	form         *regexp.Regexp
	words        []string // a line without any of them cannot match
	ceiling      int      // how many lines may still break the rule; it only falls
}

func englishRules() []englishRule {
	rule := func(ceiling int, name, better, form string, words ...string) englishRule {
		return englishRule{name, better, regexp.MustCompile(form), words, ceiling}
	}
	asks := []string{"What ", "Whether ", "That of ", "Those of ", "Who ", "Whose "}
	return []englishRule{
		rule(0, "a line begins with a question word", "name the thing first: \"Only transient errors are retried\"",
			`^\s*(//|[*#>-]+)?\s*(\*\*)?(What|Whether|That of|Those of|Who|Whose) [a-z]`, asks...),
		rule(0, "a sentence begins with a question word", "name the thing first",
			`\. (What|Whether|That of|Those of|Who|Whose) [a-z]`, asks...),
		rule(0, "something is no thing", "\"is not a\", \"has no\"", `\s(is|are|was) no [a-z]`, " no "),
		rule(0, "something is told", "receives, reports", `\s(is|are|was) told|tells of`, " told", "tells of"),
		rule(0, "code says", "reports, returns, means, documents", `\ssays (what|that|how|whether)`, " says "),
		rule(0, "one for a noun", "repeat the noun", `\sones? (that|which)\s`, " one ", " ones "),
		rule(0, "meanwhile", "after, before, during", `, meanwhile|meanwhile[.;]`, "meanwhile"),
		rule(0, "an adverb ends the sentence", "after, before; or leave it out", `all the same\.|by itself\.|behind\.`, " same.", " itself.", "behind."),
	}
}

// usual matches plain English that the form of a rule would match, and texts that are documented word for word.
var usual = regexp.MustCompile(`[Tt]here (is|are|was) no\b|\b(is|are|was) no (longer|more|less)\b|^\tWhat string$|" is no (integer|number|boolean|list|object)\b`)

// TestEnglish counts the lines that a tired reader stumbles over. CONTRIBUTING.md has the rules.
func TestEnglish(t *testing.T) {
	t.Parallel()
	rules := englishRules()
	found := make([][]string, len(rules))
	eachLine(t, func(name string, n int, line string) {
		if filepath.Base(name) == "english_test.go" {
			return
		}
		for i, r := range rules {
			in := func(word string) bool { return strings.Contains(line, word) }
			if slices.ContainsFunc(r.words, in) && r.form.MatchString(usual.ReplaceAllString(line, "")) {
				found[i] = append(found[i], fmt.Sprintf("%s:%d: %s", name, n, line))
			}
		}
	})
	for i, r := range rules {
		if len(found[i]) > r.ceiling {
			t.Errorf("%s: %d lines, %d were left; write: %s. Look at the lines of your change:\n%s", r.name, len(found[i]), r.ceiling, r.better,
				examples(found[i]))
		}
		t.Logf("%s: %d lines, ceiling %d", r.name, len(found[i]), r.ceiling)
	}
}

// examples returns at most ten of the lines, spread over all of them.
func examples(lines []string) string {
	text := ""
	for i := 0; i < len(lines); i += max(1, len(lines)/10) {
		line := lines[i]
		if utf8.RuneCountInString(line) > 160 {
			line = string([]rune(line)[:160])
		}
		text += "  " + line + "\n"
	}
	return text
}

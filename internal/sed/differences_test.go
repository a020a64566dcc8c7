package sed_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// difference is a recorded case in which this package differs from GNU sed, on purpose.
type difference struct{ script, input string }

// differences reads testdata/differences.txt: the result of each case here.
func differences(t testing.TB) map[difference]string {
	t.Helper()
	data, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[difference]string)
	var now difference
	for line := range strings.Lines(string(data)) {
		field, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch field {
		case "", "#", "reason":
			continue
		}
		text, err := strconv.Unquote(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch field {
		case "script":
			now.script = text
		case "input":
			now.input = text
		case "becomes":
			all[now] = text
		default:
			t.Fatalf("a line begins with %q", field)
		}
	}
	return all
}

// The reasons for differences, as far as a script and an input show them.
var (
	bytesOf  = regexp.MustCompile(`[^\x00-\x7f]|\\[xod]`) // characters or bytes other than ASCII
	anchors  = regexp.MustCompile(`[$^]|\\[<>bB'\x60]`)
	repeats  = regexp.MustCompile(`\)\\?[*+?{]`)
	newlines = regexp.MustCompile(`\\n|\n|\[\^|\\[WS]|\.`)
)

// excused reports whether there is a reason why a script may have another result than in GNU sed for an input.
func excused(script, input string) bool {
	return !strings.Contains(script, "[:") && bytesOf.MatchString(strings.ToValidUTF8(script+input, "\ufffd")) ||
		anchors.MatchString(script) && (repeats.MatchString(script) || newlines.MatchString(script))
}

// TestDifferencesAreExcused: each recorded difference has a known reason.
func TestDifferencesAreExcused(t *testing.T) {
	t.Parallel()
	for d := range differences(t) {
		if !excused(d.script, d.input) {
			t.Errorf("%q on %q has no reason", d.script, d.input)
		}
	}
	for _, d := range []difference{{`s/a*/x/g`, "baaac\n"}, {`s/(a|ab)(c|bcd)*/[\1]/`, "abcd\n"}, {`s/^a/b/`, "a\n"}, {`s/[[:alpha:]]*/-/g`, "日\n"}} {
		if excused(d.script, d.input) {
			t.Errorf("%q on %q is excused", d.script, d.input)
		}
	}
}

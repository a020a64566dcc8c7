package sed_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/sed"
)

var update = flag.Bool("update", false, "record what sed does in testdata/golden.txt")

const goldenFile = "testdata/golden.txt"

// refusedText marks a script in the golden file that sed refuses.
const refusedText = "refused"

// golden calls fn with each recorded case. With -update it records them first.
func golden(t *testing.T, fn func(g group, script, input, want string)) int {
	t.Helper()
	if *update {
		record(t)
	}
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	read := func(field string) string {
		if !lines.Scan() {
			t.Fatalf("%s ends: run go test -run Golden -update ./internal/sed", goldenFile)
		}
		name, quoted, _ := strings.Cut(lines.Text(), " ")
		text, err := strconv.Unquote(quoted)
		if name != field || err != nil {
			t.Fatalf("%s: %q where %s should be", goldenFile, lines.Text(), field)
		}
		return text
	}
	n := 0
	for _, g := range groups() {
		for _, script := range g.scripts {
			if got := read("script"); got != script {
				t.Fatalf("%s has %q for %q: run go test -run Golden -update ./internal/sed", goldenFile, got, script)
			}
			for _, in := range g.inputs {
				fn(g, script, in, read("becomes"))
				n++
			}
		}
	}
	return n
}

func record(t *testing.T) {
	t.Helper()
	o := newOracle(t)
	var b strings.Builder
	for _, g := range groups() {
		for _, script := range g.scripts {
			fmt.Fprintf(&b, "script %s\n", strconv.QuoteToASCII(script))
			for _, in := range g.inputs {
				out, ok, err := o.run(t, []string{script}, g.options, []string{in})
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					out = []string{refusedText}
				}
				fmt.Fprintf(&b, "becomes %s\n", strconv.QuoteToASCII(out[0]))
			}
		}
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGolden: the results of the recorded cases are those of sed, except for the listed differences, at most 3 in 100.
func TestGolden(t *testing.T) {
	listed := differences(t)
	n := golden(t, func(g group, script, in, want string) {
		theirs := want
		mine, differs := listed[difference{script, in}]
		if differs {
			delete(listed, difference{script, in})
			want = mine
		}
		out, ok, _ := ours(t, []string{script}, g.options, []string{in})
		if !ok {
			out = []string{refusedText}
		}
		if out[0] != want {
			t.Errorf("%s: %q on %q:\n got %q\nwant %q", g.name, script, in, out[0], want)
		}
		if differs && out[0] == theirs {
			t.Errorf("%s: %q on %q is listed as a difference, but is none", g.name, script, in)
		}
	})
	for d := range listed {
		t.Errorf("%q on %q is listed as a difference, but not recorded", d.script, d.input)
	}
	if all := len(differences(t)); all*100 > 3*n {
		t.Errorf("%d of %d cases differ", all, n)
	}
	t.Logf("%d cases", n)
}

// The records are the output of sed.
func TestGoldenIsSed(t *testing.T) {
	o := newOracle(t)
	golden(t, func(g group, script, in, want string) {
		if in != g.inputs[0] {
			return // the first input is enough to detect a different sed
		}
		out, ok, err := o.run(t, []string{script}, g.options, []string{in})
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			out = []string{refusedText}
		}
		if out[0] != want {
			t.Errorf("%s: %q on %q: the result of sed is %q, not %q", g.name, script, in, out[0], want)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, g := range refusals() {
		for _, script := range g.scripts {
			_, err := sed.Parse([]string{script}, g.options)
			e, ok := errors.AsType[*sed.Error](err)
			switch {
			case !ok:
				t.Errorf("%s: %q: %v", g.name, script, err)
			case e.Unsupported || e.Text == "":
				t.Errorf("%s: %q: %+v", g.name, script, e)
			}
		}
	}
	for _, script := range unsupported() {
		_, err := sed.Parse([]string{script}, sed.Options{})
		if e, ok := errors.AsType[*sed.Error](err); !ok || !e.Unsupported {
			t.Errorf("%q: %v", script, err)
		}
	}
}

func TestRefusalsAreThoseOfSed(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	for _, g := range refusals() {
		for _, script := range g.scripts {
			if _, ok, err := o.run(t, []string{script}, g.options, []string{"a\n"}); ok || err != nil {
				t.Errorf("%s: sed accepts %q", g.name, script)
			}
		}
	}
}

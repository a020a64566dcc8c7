package ignore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace/internal/ignore"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	var top *ignore.Matcher
	top = top.Enter(".", []byte("*.log\n!keep.log\n/build/\nsrc/gen\n"))
	sub := top.Enter("sub", []byte("!x.log\n/local\n"))
	for _, tt := range []struct {
		m     *ignore.Matcher
		path  string
		isDir bool
		want  string // the deciding rule
	}{
		{nil, "a.log", false, ""},
		{top, "a.log", false, "*.log"},
		{top, "x/y/a.log", false, "*.log"},
		{top, "keep.log", false, "!keep.log"},
		{top, "build", true, "/build/"},
		{top, "build", false, ""},
		{top, "x/build", true, ""},
		{top, "src/gen", false, "src/gen"},
		{top, "x/src/gen", false, ""},
		{sub, "sub/x.log", false, "!x.log"},
		{sub, "sub/y.log", false, "*.log"},
		{sub, "sub/local", false, "/local"},
		{sub, "sub/z/local", false, ""},
		{sub, "x.log", false, "*.log"}, // not below sub
		{sub, "sub", true, ""},
		{sub, "subx/local", false, ""},
		{top, "sub/x.log", false, "*.log"}, // the rules of sub did not get into top
	} {
		var got string
		if r := tt.m.Match(tt.path, tt.isDir); r != nil {
			got = r.Text
		}
		if got != tt.want {
			t.Errorf("Match(%q, %v) = %q, want %q", tt.path, tt.isDir, got, tt.want)
		}
		if ignored := tt.want != "" && tt.want[0] != '!'; tt.m.Ignored(tt.path, tt.isDir) != ignored {
			t.Errorf("Ignored(%q, %v) = %v", tt.path, tt.isDir, !ignored)
		}
	}
}

func TestMatchAbsolute(t *testing.T) {
	t.Parallel()
	var m *ignore.Matcher
	m = m.Enter("/", []byte("/tmp/x\n")).Enter("/home/u", []byte("/y\n"))
	for path, want := range map[string]bool{"/tmp/x": true, "/y": false, "/home/u/y": true, "/home/u/z/y": false} {
		if got := m.Ignored(path, false); got != want {
			t.Errorf("Ignored(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	data := []byte("# c\r\n\n!a/  \nb\\ \n[x\n/\n")
	f := ignore.Parse(data, "d")
	for i := range data { // no rule may refer to it
		data[i] = 'x'
	}
	want := []ignore.Rule{
		{Dir: "d", Line: 3, Text: "!a/", Negated: true, DirOnly: true},
		{Dir: "d", Line: 4, Text: `b\ `},
	}
	if diff := cmp.Diff(want, f.Rules(), cmpopts.IgnoreUnexported(ignore.Rule{})); diff != "" {
		t.Errorf("rules (-want +got)\n%s", diff)
	}
	f.Rules()[0].Negated = false
	if !f.Match("d/a", true).Negated {
		t.Error("the returned list is the list in use")
	}
}

func TestEnterWithoutRules(t *testing.T) {
	t.Parallel()
	var none *ignore.Matcher
	m := none.Enter(".", []byte("a"))
	if m.Enter("d", []byte("# nothing\n\n")) != m || none.Enter("d", nil) != nil {
		t.Error("a file without rules made a matcher of its own")
	}
}

// A matcher is shared by all walks below its directory.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var top *ignore.Matcher
	top = top.Enter(".", []byte("*.o\nx*y\n/a/**/b\n"))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			dir := fmt.Sprintf("d%d", g)
			m := top.Enter(dir, []byte("!"+dir+".o\n"))
			for range 200 {
				if m.Ignored(dir+"/"+dir+".o", false) || !m.Ignored(dir+"/e.o", false) || !m.Ignored("a/c/b", false) {
					t.Error("wrong answer")
					return
				}
			}
		})
	}
	wg.Wait()
}

// A matcher that tries every star takes extremely long for each of these. This one does a few million steps at most, so
// the test ends at once; if that breaks, it exceeds the limit of go test.
func TestManyStars(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 250)
	for _, pattern := range []string{
		strings.Repeat("a*", 120) + "b",
		strings.Repeat("*a", 120) + "*b",
		strings.Repeat("?*", 120) + "b",
		strings.Repeat("[a]*", 120) + "b",
		"/" + strings.Repeat("**/", 60) + strings.Repeat("a*", 60) + "b",
		"/" + strings.Repeat("**/*a*/", 60) + "b",
		strings.Repeat("a**", 120) + "b",
	} {
		f := ignore.Parse([]byte(pattern), ".")
		if len(f.Rules()) != 1 {
			t.Fatalf("%.20q... is not taken as a rule", pattern)
		}
		for _, path := range []string{long, strings.Repeat(long+"/", 15) + long, strings.Repeat("a/", 2000) + "a"} {
			if f.Match(path, false) != nil {
				t.Errorf("%.20q... matches %.20q...", pattern, path)
			}
		}
	}
}

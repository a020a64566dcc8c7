package template_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/template"
)

var corpus = []string{
	"", "plain", "{{find.count}}", "{{ find.files[0] }}", `\{{find.count}}`, `\\{{find.count}}`, `\\\{{step1.count}}`,
	"{{{find.count}}}", "{{find.{{find.count}}", "{{find.count\n}}", "{{user.name}}", "{{steps[0].risk}}", "{{steps[9].risk}}",
	"{{find.nothing}}", "{{find.count[0]}}", "{{find.files[x]}}", "{{find.files[-1]}}{{fix-it.edits}}", "{{find.}}", "{{.}}", "{{",
	"{{later.count}}", "{{step9.count}}", "{{step4.count}}", "\xff{{find.risk}}\x00", "{{find.files[7]}}", "{{find.files}},{{here.files}}",
}

// Regular expressions that find the same references as the package, which finds them by hand.
var (
	candidate = regexp.MustCompile(`(\\*)(\{\{[ \t]*([A-Za-z0-9_-]+|steps\[[0-9]+\])\.([^{}\r\n]*)\}\})`)
	right     = regexp.MustCompile(`^(count|edits|files|files_count|risk|aggregated_content|files\[(-?[0-9]{1,9})\])$`)
)

// found is the result of the reference implementation.
type found struct {
	refs     []string // "step field", with the index
	bad      []string // sources of wrong references
	expanded string   // with the values inserted as text, if nothing is wrong
	outside  bool     // an index is out of range
}

func reference(text string, known template.Known) (f found) {
	f.expanded = candidate.ReplaceAllStringFunc(text, func(s string) string {
		m := candidate.FindStringSubmatch(s)
		step, ok := known(m[3])
		if !ok {
			return s
		}
		half := m[1][:len(m[1])/2]
		if len(m[1])%2 == 1 {
			return half + m[2]
		}
		field := strings.TrimRight(m[4], " \t") // only spaces before the braces are not part of it
		parts := right.FindStringSubmatch(field)
		if parts == nil {
			f.bad = append(f.bad, m[2])
			return half + m[2]
		}
		f.refs = append(f.refs, step.Name+" "+field)
		name, _, _ := strings.Cut(field, "[")
		v, _ := valueOf(template.Ref{Root: step.Name, Field: name})
		if list, ok := v.([]string); ok && parts[2] != "" {
			i, _ := strconv.Atoi(parts[2])
			if i < 0 {
				i += len(list)
			}
			if i < 0 || i >= len(list) {
				f.outside = true
				return half
			}
			return half + list[i]
		} else if ok {
			escaped := make([]string, len(list))
			for i, s := range list {
				escaped[i] = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(s)
			}
			return half + strings.Join(escaped, ",")
		}
		return half + fmt.Sprint(v)
	})
	return f
}

// valueOf returns different values for each step.
func valueOf(r template.Ref) (any, error) {
	v, err := results(r)
	switch v := v.(type) {
	case int:
		return v + slices.Index(steps, r.Root)*100, err
	case string:
		return r.Root + v, err
	case []string:
		return append(v, r.Root), err
	}
	return v, err
}

// check compares the package with the reference implementation on one text.
func check(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) {
	t.Helper()
	known := template.Steps(steps, at)
	want := reference(text, known)
	parsed, problems := template.Parse(text, known)
	var refs, bad []string
	for _, r := range parsed.Refs() {
		field := r.Field
		if len(r.Path) > 0 {
			field = strings.TrimRight(strings.Trim(r.Source[strings.Index(r.Source, ".")+1:], " \t}"), " \t")
		}
		refs = append(refs, r.Root+" "+field)
		if text[r.Offset:r.Offset+len(r.Source)] != r.Source {
			t.Fatalf("%q: %q is not at %d", text, r.Source, r.Offset)
		}
	}
	for _, p := range problems {
		bad = append(bad, p.Source)
		if p.Code == "" || p.Hint == "" || !strings.HasPrefix(text[p.Offset:], p.Source) || !strings.Contains(p.Message, p.Source) {
			t.Fatalf("%q: problem %+v", text, p)
		}
	}
	if len(want.bad) > 100 {
		want.bad = append(want.bad[:100], "") // the rest is counted
	}
	if diff := cmp.Diff([][]string{want.refs, want.bad}, [][]string{refs, bad}); diff != "" {
		t.Fatalf("%q: references and problems (-want +got):\n%s", text, diff)
	}
	if len(bad) == 0 {
		got, err := parsed.ExpandString(valueOf)
		if (err != nil) != want.outside || err == nil && got != want.expanded {
			t.Fatalf("%q: expanded to %q, %v, want %q", text, got, err, want.expanded)
		}
		if !parsed.IsTemplate() && got != text {
			t.Fatalf("%q: is not a template but expanded to %q", text, got)
		}
	}
	escaped, problems := template.Parse(template.Escape(text, known), known)
	if got, err := escaped.ExpandString(nil); got != text || err != nil || len(problems) > 0 {
		t.Fatalf("%q: escaped as %q it becomes %q, %v, %v", text, escaped.Source(), got, err, problems)
	}
	for _, p := range parsed.NearMisses(steps) {
		if !strings.HasPrefix(text[p.Offset:], p.Source) {
			t.Fatalf("%q: near miss %+v", text, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range corpus {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// Random texts of the relevant pieces: almost every one has several references, escapes and partial references.
func TestParseProperties(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"{{", "}}", "{", "}", `\`, `\\`, ".", " ", "\t", "\n", "[", "]", "-", "0", "1", "step", "step1", "steps[0]", "steps[3]", "steps",
		"find", "fix-it", "later", "user", "count", "files", "files_count", "risk", "{{find.", "{{find.count}}", "{{ later.files[",
		"[-1]}}", "[0]", "x", "é", "\x80", "|",
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces"), ""))
	})
}

// A joined list can be split again.
func TestJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune(`,\ab.`))), 1, 5).Draw(t, "list")
		joined := template.Join(list)
		got := []string{""}
		for i := 0; i < len(joined); i++ {
			switch joined[i] {
			case ',':
				got = append(got, "")
				continue
			case '\\':
				i++
			}
			got[len(got)-1] += joined[i : i+1]
		}
		if diff := cmp.Diff(list, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", joined, diff)
		}
	})
	if got := template.Join(nil); got != "" {
		t.Errorf("Join(nil) = %q", got)
	}
}

// A near miss is exactly a word that is similar to an id.
func TestNearMissDistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc_]{1,7}`)
		written, id := word.Draw(t, "written"), word.Draw(t, "id")
		if written == id {
			return
		}
		text, _ := template.Parse("{{"+written+".count}}", template.Steps([]string{id}, 1))
		_, want := nearest.Of(written, []string{id})
		if got := len(text.NearMisses([]string{id})) == 1; got != want {
			t.Fatalf("%s for %s: near miss %t", written, id, got)
		}
	})
}

// Texts with the most work: each would take minutes if anything were scanned repeatedly.
func TestLinear(t *testing.T) {
	t.Parallel()
	n := fstest.Slowed(1<<17, fstest.ByItself(1<<19, 1<<21))
	for _, unit := range []string{
		"{", "{{", "{{a.", "{{find.", `\`, `\{{find.count}}`, "{{ ", "{{a.b}}", "{{steps[", "}", `{{find["`, `\"]}}`, "{{a[0]}}", ".a", "[0]",
	} {
		text := strings.Repeat(unit, n/len(unit))
		known := template.Steps(steps, at)
		parsed, _ := template.Parse(text, known)
		parsed.NearMisses(steps)
		template.Escape(text, known)
		data := map[string]any{"a": []any{1}}
		_, _ = template.Resolve(text, data)
		_, _ = template.Resolve("{{a"+text+"}}", data)
		template.EscapeData(text, data)
	}
	long := strings.Repeat("a", n)
	parsed, _ := template.Parse("{{"+long+".b}}", nil)
	parsed.NearMisses([]string{long[1:] + "b"})
}

// A text with very many mistakes has a bounded number of problems and suspicions.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	const n = 5000
	known := template.Steps(steps, at)
	_, problems := template.Parse(strings.Repeat("{{find.b}}", n), known)
	if len(problems) != 101 || problems[99].Code != "unknown_field" || !strings.HasPrefix(problems[100].Message, "4900 more ") {
		t.Errorf("%d problems, the last are %+v", len(problems), problems[max(0, len(problems)-2):])
	}
	text, problems := template.Parse(strings.Repeat("{{fnd.b}}", n)+"{{fix-is.b}}", known)
	near := text.NearMisses(steps)
	if last := near[len(near)-1]; len(near) > 2000 || last.Source != "{{fix-is.b}}" || len(problems) > 0 {
		t.Errorf("%d near misses, the last is %+v", len(near), last)
	}
	text, _ = template.Parse(strings.Repeat("{{find.b ", n), known)
	if got := len(text.Unclosed(steps)); got > 1000 {
		t.Errorf("%d references lack a brace", got)
	}
}

func BenchmarkParse(b *testing.B) {
	known := template.Steps(steps, at)
	for _, unit := range []string{"func main() { println(1) }\n", "func {{find.count}}() { }\n"} {
		b.Run(strings.Fields(unit)[1], func(b *testing.B) {
			text := strings.Repeat(unit, 4000)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				template.Parse(text, known)
			}
		})
	}
}

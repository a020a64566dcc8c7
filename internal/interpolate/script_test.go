package interpolate_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/template"
)

// sedSyntaxes are the syntaxes of pattern_replace.
var sedSyntaxes = map[string]sed.Syntax{"ere": sed.ERE, "bre": sed.BRE, "re2": sed.RE2}

// wantSed expands scripts with these values, as {{vars.v}} and so on, runs them and compares the result.
func wantSed(t *testing.T, syntax string, scripts []string, values map[string]string, text, want string) {
	t.Helper()
	texts := interpolate.New([]template.Root{{Name: "here"}})
	vars := template.Root{Name: "vars"}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		vars.Fields = append(vars.Fields, template.Field{Name: name, Type: template.String})
	}
	texts[0].Offer(vars)
	step := interpolate.Step{ID: "here", Action: actions.PatternReplace{SedPattern: scripts, Syntax: syntax}}
	texts[0].Check(step, func(p interpolate.Problem) { t.Errorf("%q: %+v", scripts, p) })
	got, err := texts[0].Expand(func(ref template.Ref) (any, error) { return values[ref.Field], nil }, 1<<20)
	if err != nil {
		t.Fatalf("%q: %v", scripts, err)
	}
	expanded := got.(actions.PatternReplace).SedPattern
	s, err := sed.Parse(expanded, sed.Options{Syntax: sedSyntaxes[syntax]})
	if err != nil {
		t.Errorf("%s: %q with %q is %q: %v", syntax, scripts, values, expanded, err)
		return
	}
	var out []byte
	done := int64(0)
	_, err = s.Apply(t.Context(), strings.NewReader(text), sed.Bounds{}, func(start, end int64, with []byte) error {
		out = append(append(out, text[done:start]...), with...)
		done = end
		return nil
	})
	if result := string(append(out, text[done:]...)); err != nil || result != want {
		t.Errorf("%s: %q with %q is %q: on %q: %q, want %q, error %v",
			syntax, scripts, values, expanded, text, result, want, err)
	}
}

// TestScripts: a value in a sed script is quoted for the command that it is in.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scripts       []string
		v, text, want string
	}{
		{[]string{`s|{{vars.v}}|X|g`}, "a|b", "a b a|b", "a b X"},
		{[]string{`s/x/y/;s,colour,{{vars.v}},`}, "red,#fff", "colour", "red,#fff"},
		{[]string{`s/x/y/;s,colour,{{vars.v}},`}, "r,;d;#", "colour", "r,;d;#"},
		{[]string{`/{{vars.v}}/s,a,b,`}, "/;d;/", "a", "a"},
		{[]string{`s[{{vars.v}}[X[`}, "[a]", "[a]", "X"},
		{[]string{`s^{{vars.v}}^X^`}, "a^b", "a^b", "X"},
		{[]string{`N`, `sn{{vars.v}}nXn`}, "n\nn", "n\nn", "X"},
		{[]string{`s&x&{{vars.v}}&`}, "&", "x", "&"},
		{[]string{`s1x1{{vars.v}}1`}, "1", "x", "1"},
		{[]string{`s/x/a/{{vars.v}};s,a,{{vars.v}},`}, "", "xx", "x"},
		{[]string{`{{vars.v}}s,x,{{vars.v}},`}, "1,2", "x\nx\nx", "1,2\n1,2\nx"},
		{[]string{`s/[{{vars.v}}]/_/g`}, "[:]/", "/[a:]", "__a__"},
		{[]string{`s|[{{vars.v}}]|_|g`}, `]|\n`, `a|\n]`, "a____"},
		{[]string{`y|ab|{{vars.v}}|`}, `|\`, "ab", `|\`},
		{[]string{"/x/{", "}\ns|{{vars.v}}|X|g"}, "|", "-|-", "-X-"},
		{[]string{"# {{vars.v}}\ns,x,{{vars.v}},"}, "a\nd;,", "x", "a\nd;,"},
		{[]string{"i\\\n{{vars.v}}\na {{vars.v}}"}, ` s,\,`, "x", " s,\\,\nx\n s,\\,\n"},
		{[]string{"i{{vars.v}}"}, "\na\\n", "x", "\na\\n\nx"},
		{[]string{"s,x\x00,{{vars.v}},"}, ",", "x\x00", ","},
	} {
		for syntax := range sedSyntaxes {
			wantSed(t, syntax, test.scripts, map[string]string{"v": test.v}, test.text, test.want)
		}
	}
}

// TestRandomScripts: with every delimiter, any value matches exactly itself in a pattern, and each of its characters
// between brackets and in y. It appears as it is in a replacement.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(fstest.Seed(t), 1))
	for range fstest.Runs(1000, 20_000, 300_000) {
		delimiter := string(rune(' ' + r.IntN('~'-' '+1)))
		if delimiter == `\` {
			continue
		}
		letters := append([]rune(`\.*[]^$+?(){}|&-/,:=!;#19abdngsxyXUwé`+"\n\t "), []rune(delimiter+delimiter)...)
		word := func(most int, letters []rune) string {
			var b strings.Builder
			for range 1 + r.IntN(most) {
				b.WriteRune(letters[r.IntN(len(letters))])
			}
			return b.String()
		}
		values := map[string]string{"v": word(5, letters), "w": word(5, letters)}
		v, w, d := values["v"], values["w"], delimiter
		near := []rune(v + v + d + "a")
		text := word(4, near) + v + word(4, near) + v + "."
		own := "q" // between the delimiter and the braces of a template
		if d == own {
			own = "p"
		}
		begin := strings.Repeat("N;", strings.Count(text, "\n"))
		syntax := []string{"ere", "bre", "re2"}[r.IntN(3)]
		ownText := strings.ReplaceAll(text, v, own+v)
		wantSed(t, syntax, []string{begin + "s" + d + own + "{{vars.v}}" + d + own + "{{vars.w}}" + d + "g"}, values,
			ownText, strings.ReplaceAll(ownText, own+v, own+w))
		address := `\` + d + own + "{{vars.v}}" + d
		if d == "/" {
			address = d + own + "{{vars.v}}" + d
		}
		for _, text := range []string{ownText, text} {
			want := text
			if strings.Contains(text, own+v) {
				want = ""
			}
			wantSed(t, syntax, []string{begin + address + "d"}, values, text, want)
		}
		if d != "[" {
			wantSed(t, syntax, []string{begin + "s" + d + "[" + own + "{{vars.v}}]" + d + own + "{{vars.w}}" + d + "g"}, values,
				text, each(text, v, own+w))
		}

		var from, to []rune // different characters
		for _, c := range v {
			if !slices.Contains(from, c) {
				from, to = append(from, c), append(to, letters[r.IntN(len(letters))])
			}
		}
		pairs := []string{own, own}
		for i := range from {
			pairs = append(pairs, string(from[i]), string(to[i]))
		}
		wantSed(t, syntax, []string{begin + "y" + d + own + "{{vars.v}}" + d + own + "{{vars.w}}" + d},
			map[string]string{"v": string(from), "w": string(to)}, text, strings.NewReplacer(pairs...).Replace(text))
	}
}

// each replaces each character of a text that is in the list.
func each(text, list, with string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(list, c) {
			b.WriteString(with)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

package yamlform_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/yamlform"
)

// Strings that some version of YAML reads as something else, or that are difficult in blocks and quotes.
var awkward = []string{
	"", " ", "\n", "\n\n", "a\n", "a\n\n", "a\n\nb", " a\nb", "\ta\n\tb\n", "a \nb", "a\n \nb", "a\n\t\nb\n", "# a\nb", "---\na\n", "...\n", "- a\n- b\n",
	"a: b", "a #b", "'", `"`, `\`, "a\r\nb\r\n", "\r", "\u0085", "\u2028a\u2029", "\ufeff", "\x00", "\x7f", "\u009f", "\U0001f600", "\U000e0001", "\u202e", "\ufffd",
	"true", "True", "no", "NO", "y", "null", "~", "NULL", "<<", "=", "012", "1", "-1", "1.5", "1e3", "0x1F", "1_000", ".5", "+5", ".inf", "2024-01-01", "12:30",
	"*a", "&a", "!a", "@a", "`a", "%a", "|", ">", "|\na", "{a}", "[a]", "a,b", "?", "? a", "-", "- a", ":", ": a", "a:", "key: |\n  a\n", "  a\n b\n  c", "\n  a",
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(awkward), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(awkward), rapid.String()), 0, 5),
		func(lines []string) string { return strings.Join(lines, "\n") }), rapid.StringMatching(`[ -~\n\t]{0,40}`))
}

func id() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"true", "no", "y", "null", "1", "012", "1e3", "-", "--", "0x1F", "2024-01-01", "1_0"}),
		rapid.StringMatching(`[A-Za-z0-9_-]{1,12}`))
}

// pipeline draws a pipeline with awkward strings.
func pipeline(t *rapid.T) millrace.Pipeline {
	b := millrace.New(rapid.SampledFrom([]string{"n", "yes", "012", "a: b", "- a"}).Draw(t, "name")).
		Options(millrace.Options{DryRun: rapid.Bool().Draw(t, "dry"), Parallel: rapid.Bool().Draw(t, "parallel")})
	for _, id := range rapid.SliceOfNDistinct(id(), 1, 4, rapid.ID).Draw(t, "ids") {
		var a actions.Action
		switch rapid.IntRange(0, 3).Draw(t, "action") {
		case 0:
			a = actions.Create{Path: "a/" + rapid.StringMatching(`[ -~]{1,8}x`).Draw(t, "path"), Content: text().Draw(t, "content")}
		case 1:
			a = actions.MultiEdit{Files: []string{"x"}, Edits: []actions.TextEdit{
				{OldText: "a" + text().Draw(t, "old"), NewText: text().Draw(t, "new")}, {OldText: text().Draw(t, "old") + "b", NewText: text().Draw(t, "new")},
			}}
		case 2:
			a = actions.Search{Pattern: "x" + text().Draw(t, "pattern")}
		default:
			a = actions.Delete{Files: rapid.SliceOfN(rapid.Map(text(), func(s string) string { return "f" + s }), 1, 3).Draw(t, "files")}
		}
		b = b.Add(millrace.Step{ID: id, Action: a, Raw: rapid.Bool().Draw(t, "raw")}).Builder
	}
	p, err := b.Build()
	if err != nil {
		t.Skip(err.Error())
	}
	return p
}

// The output of Encode is read as an equal pipeline.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pipeline(t)
		data, err := yamlform.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yamlform.Decode(millrace.Decoder{}, data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if !got.Equal(p) {
			t.Fatalf("another pipeline from\n%s", data)
		}
		again, err := yamlform.Encode(got)
		if err != nil || string(again) != string(data) {
			t.Fatalf("written again: %v\n%s", err, again)
		}
	})
}

// value draws a value of JSON, as the default of a variable can be.
func value(t *rapid.T) any {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return rapid.Bool().Draw(t, "bool")
	case 1:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
	case 2:
		return rapid.Int64().Draw(t, "int")
	case 3:
		return rapid.SliceOfN(text(), 0, 4).Draw(t, "texts")
	default:
		return text().Draw(t, "text")
	}
}

// A JSON text is read as the same pipeline, or refused by both, and so is the output of Encode.
func TestSameAsDrawnJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		vars := make(map[string]any)
		for _, name := range rapid.SliceOfN(id(), 0, 4).Draw(t, "names") {
			vars[name] = value(t)
		}
		source, err := json.Marshal(map[string]any{"name": "n", "variables": vars, "steps": []any{
			map[string]any{"id": "a", "action": "edit", "params": map[string]any{"files": []string{"x"}, "old_text": "a" + text().Draw(t, "old"), "new_text": text().Draw(t, "new")}, "raw": true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		want, refused := millrace.Decode(source)
		got, err := yamlform.Decode(millrace.Decoder{}, []byte(strings.ReplaceAll(string(source), "\x7f", `\u007f`)))
		if refused != nil {
			if err == nil {
				t.Fatalf("%v, but not in YAML", refused)
			}
			return
		}
		if hidden(string(source)) {
			return // Decode refuses it in a text
		}
		if err != nil || !got.Equal(want) {
			t.Fatalf("%v\n%s", err, source)
		}
		data, err := yamlform.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = yamlform.Decode(millrace.Decoder{}, data); err != nil || !got.Equal(want) {
			t.Fatalf("%v\n%s", err, data)
		}
	})
}

func hidden(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 0x80 <= r && r <= 0x9f || r == 0xfffe || r == 0xffff })
}

// FuzzDecode: no text makes Decode panic; a decoded pipeline can be written and read as an equal pipeline, and a
// refused text has problems with a message.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/problems/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no texts", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(inYAML))
	f.Add([]byte(inJSON))
	for _, s := range awkward {
		f.Add(fmt.Appendf(nil, "name: n\nvariables:\n  v: %s\nsteps: [{id: a, action: search, params: {pattern: x}}]\n", s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []millrace.Decoder{{}, {Lenient: true}} {
			p, err := yamlform.Decode(d, data)
			if err != nil {
				for _, p := range problems(t, err) {
					if p.Message == "" || p.Code == "" || strings.Contains(p.Message, "JSON") && !strings.Contains(p.Message, "not a number") {
						t.Fatalf("%q", p)
					}
				}
				continue
			}
			text, err := yamlform.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			q, err := yamlform.Decode(millrace.Decoder{}, text)
			if err != nil || !q.Equal(p) {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	})
}

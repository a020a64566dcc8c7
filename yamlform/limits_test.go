package yamlform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/yamlform"
)

// A text that is too large has one problem, for the limit that it exceeds.
func TestLimits(t *testing.T) {
	t.Parallel()
	large := inYAML + strings.Repeat("#", yamlform.MaxBytes-len(inYAML))
	few := millrace.Decoder{MaxBytes: len(inYAML), MaxDepth: 6}
	for name, c := range map[string]struct {
		d       millrace.Decoder
		text    string
		message string // "" if the text is taken
	}{
		"at the limit":    {text: large},
		"over the limit":  {text: large + "#", message: "Invalid pipeline YAML: the text has 1048577 bytes, more than 1048576: split the pipeline, or send it as JSON"},
		"not raised":      {d: millrace.Decoder{MaxBytes: 1 << 30}, text: large + "#", message: "the text has 1048577 bytes, more than 1048576"},
		"negative":        {d: millrace.Decoder{MaxBytes: -1}, text: large},
		"lowered":         {d: few, text: inYAML},
		"lowered, longer": {d: few, text: inYAML + " ", message: "bytes, more than"},
		"lowered, deeper": {d: millrace.Decoder{MaxDepth: 5}, text: inYAML, message: "nested more than 5 levels deep"},
		"marks":           {text: "#" + strings.Repeat(",", yamlform.MaxMarks) + "\n" + inYAML, message: "commas and brackets, more than 80000"},
		"values":          {text: "name: n\nsteps:\n" + strings.Repeat("-\n", yamlform.MaxValues), message: "the text has more than 200000 keys and values"},
	} {
		_, err := yamlform.Decode(c.d, []byte(c.text))
		if c.message == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := problems(t, err); len(got) != 1 && name != "lowered, deeper" || !strings.Contains(got[0].String(), c.message) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// At most a thousand problems are reported, and long names do not make them many times longer than the text.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	_, err := yamlform.Decode(millrace.Decoder{}, []byte("name: n\nlist:\n"+strings.Repeat("- 012\n", 3000)))
	if got := problems(t, err); len(got) != 1001 || got[1000].Message != "2000 more problems" || got[1000].Code != "too_many_problems" {
		t.Errorf("%d problems, the last is %v", len(got), got[len(got)-1])
	}
	_, err = yamlform.Decode(millrace.Decoder{}, []byte(strings.Repeat("k", 400_000)+":\n"+strings.Repeat("- 012\n", 3000)))
	size := 0
	for _, p := range problems(t, err) {
		size += len(p.Pointer)
	}
	if size == 0 || size > yamlform.MaxBytes {
		t.Errorf("%d bytes of pointers", size)
	}
}

// A pipeline that Decode would not read is not written.
func TestEncodeTooLarge(t *testing.T) {
	t.Parallel()
	p := millrace.New("n").Step("a", actions.Create{Path: "a", Content: strings.Repeat("x", yamlform.MaxBytes)}).MustBuild()
	if data, err := yamlform.Encode(p); err == nil || data != nil || !strings.Contains(err.Error(), "more than 1048576") {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// Decode uses the given decoder: its registry, and its repairs. Warnings have their places in the YAML text.
func TestDecoder(t *testing.T) {
	t.Parallel()
	text := []byte("name: n\n# comment\nsteps:\n- id: a\n  action: search\n  params:\n    pattern: x\n    file_types: .go\n")
	if _, err := yamlform.Decode(millrace.Decoder{}, text); err == nil {
		t.Error("a string is a list")
	}
	p, err := yamlform.Decode(millrace.Decoder{Lenient: true}, text)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Warnings(), func(p millrace.Problem) bool { return p.Line == 8 && p.Column == 17 }) {
		t.Errorf("%v", p.Warnings())
	}
	_, err = yamlform.Decode(millrace.Decoder{Actions: actions.Registry{}.With(actions.Edit{})}, text)
	if got := problems(t, err); got[0].Code != "unknown_action" || got[0].Line != 5 || got[0].Column != 11 {
		t.Errorf("%v", got)
	}
}

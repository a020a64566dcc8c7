package actions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// TestBuiltin checks the documented names, and that every parameter can be shown to a user.
func TestBuiltin(t *testing.T) {
	equal(t, "Builtin().Names(), and the list in this test", actions.Builtin().Names(), []string{
		"aggregate", "copy", "count_occurrences", "create", "delete", "diff", "edit", "edit_files", "exec", "fail", "list", "merge", "multi_edit", "patch", "pattern_replace", "prompt", "read_ranges", "regex_transform", "rename", "search", "sync_files", "tool",
	})
	mutating := map[string]bool{"edit": true, "multi_edit": true, "regex_transform": true, "copy": true, "rename": true,
		"delete": true, "edit_files": true, "sync_files": true, "create": true, "pattern_replace": true, "patch": true, "exec": true, "prompt": true}
	for _, name := range actions.Builtin().Names() {
		a, _ := actions.Builtin().Lookup(name)
		spec := a.Spec()
		if spec.Name != name || spec.Summary == "" {
			t.Errorf("%s: Spec has the name %q and the summary %q", name, spec.Name, spec.Summary)
		}
		if spec.ReadOnly == mutating[name] {
			t.Errorf("%s: Spec has ReadOnly %t, but mutating in this test has %t", name, spec.ReadOnly, mutating[name])
		}
		object, err := params.Describe(a)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, f := range object.Fields {
			if !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s: the tag doc of %s is not a sentence with a full stop", name, f.Name)
			}
		}
		if _, ok := a.(actions.Toucher); !ok {
			t.Errorf("%s has no method Touches, which reports the paths that it reads and writes", name)
		}
	}
}

// TestDocumentedParameters decodes parameters in their documented JSON form.
func TestDocumentedParameters(t *testing.T) {
	for _, test := range []struct {
		name, json string
		want       actions.Action
	}{
		{"search", `{"path":"./src","pattern":"recieve","file_types":[".js",".ts"],"include_content":true}`,
			actions.Search{Path: "./src", Pattern: "recieve", FileTypes: []string{".js", ".ts"}, IncludeContent: true}},
		{"list", `{"path":"src","depth":2,"file_types":[".go"],"include":["a"],"exclude":["b"],"no_ignore":true}`,
			actions.List{Path: "src", Depth: 2, FileTypes: []string{".go"}, Include: []string{"a"}, Exclude: []string{"b"}, NoIgnore: true}},
		{"read_ranges", `{"files":["a"],"start_line":1,"end_line":-1,"ranges":[{"start":1,"end":2}]}`,
			actions.ReadRanges{Files: []string{"a"}, StartLine: 1, EndLine: -1, Ranges: ranges(1, 2)}},
		{"edit", `{"old_text":"a","new_text":""}`, actions.Edit{OldText: "a"}},
		{"multi_edit", `{"edits":[{"old_text":"a","new_text":"b"}],"mode":"simultaneous"}`, actions.MultiEdit{Edits: edits("a", "b"), Mode: "simultaneous"}},
		{"count_occurrences", `{"pattern":"a","mode":"regex","ignore_case":true}`, actions.CountOccurrences{Pattern: "a", Mode: "regex", IgnoreCase: true}},
		{"regex_transform", `{"patterns":[{"pattern":"a","replacement":"","flags":"m"}]}`, actions.RegexTransform{Patterns: []actions.PatternEdit{{Pattern: "a", Flags: "m"}}}},
		{"copy", `{"destination":"d","preserve_paths":true,"base":"b","overwrite":true}`, actions.Copy{Destination: "d", PreservePaths: true, Base: "b", Overwrite: true}},
		{"rename", `{"to":"{{dir}}/{{stem}}_test{{ext}}"}`, actions.Rename{To: "{{dir}}/{{stem}}_test{{ext}}"}},
		{"patch", `{"patch":"@@\n-a\n+b\n","format":"unified","path":"f","directory":"d","strip":0,"tolerance":"indent","fuzz":1,"ambiguous":"nearest","reverse":true,"overwrite":true,"binary":true,"on_error":"continue"}`,
			actions.Patch{Text: "@@\n-a\n+b\n", Format: "unified", Path: "f", Directory: "d", Strip: new(int), Tolerance: "indent", Fuzz: 1, Ambiguous: "nearest", Reverse: true, Overwrite: true, Binary: true, OnError: "continue"}},
		{"delete", `{"files":["a"],"permanent":true}`, actions.Delete{Files: []string{"a"}, Permanent: true}},
		{"prompt", `{"prompt":"p","agent":"a","context":"none","format":"json","workspace":"read","model":"m","tools":["t"],"system_prompt":"s","memory":"4g","gpu":false,"workdir":"/w","options":{"o":1}}`,
			actions.Prompt{Prompt: "p", Agent: "a", Context: "none", Format: "json", Workspace: "read", Model: "m", Tools: []string{"t"}, SystemPrompt: "s", Memory: "4g", GPU: new(false), Workdir: "/w", Options: map[string]any{"o": int64(1)}}},
		{"exec", `{"command":"go","args":["vet"],"dir":"d","env":{"A":"b"},"stdin":["x"],"ok_codes":[0,1],"needs":["*.go"],"exclude":["v"],"writes":["w"],"discard":true,"no_ignore":true,"max_output":9,"format":"json"}`,
			actions.Exec{Command: "go", Args: []string{"vet"}, Dir: "d", Env: map[string]string{"A": "b"}, Stdin: []any{"x"}, OKCodes: []int{0, 1}, Needs: []string{"*.go"}, Exclude: []string{"v"}, Writes: []string{"w"}, Discard: true, NoIgnore: true, MaxOutput: 9, Format: "json"}},
		{"exec", `{"shell":"true","stdin":"x"}`, actions.Exec{Shell: "true", Stdin: "x"}},
		{"diff", `{"file_a":"a","file_b":"b"}`, actions.Diff{FileA: "a", FileB: "b"}},
		{"merge", `{"mode":"intersection"}`, actions.Merge{Mode: "intersection"}},
	} {
		node, err := strictjson.Parse([]byte(test.json), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		proto, _ := actions.Builtin().Lookup(test.name)
		got, _, problems := params.Decode(proto, node, test.name, func(string) bool { return false })
		if len(problems) > 0 {
			t.Errorf("%s: %v", test.name, problems)
		}
		equal(t, test.name, got, any(test.want))
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		action actions.Validator
		want   []string // pointer, code, part of the message or of the hint
	}{
		{"search", actions.Search{Pattern: "a", Include: []string{"*.go"}, FileTypes: []string{"go", ".d.ts", "*.c"}}, nil},
		{"auto takes what is not a regex", actions.Search{Pattern: "("}, nil},
		{"regex", actions.Search{Pattern: "(", Mode: "regex"}, []string{"/pattern bad_pattern missing closing"}},
		{"lookahead", actions.Search{Pattern: "a(?=b)", Mode: "regex"}, []string{"/pattern bad_pattern lookahead"}},
		{"template", actions.Search{Pattern: "({{a.count}}", Mode: "regex"}, nil},
		{"globs", actions.Search{Pattern: "a", Include: []string{"ok", "[", "/a"}, Exclude: []string{""}},
			[]string{"/include/1 bad_glob valid", "/include/2 bad_glob slash", "/exclude/0 bad_glob empty"}},
		{"types", actions.Search{Pattern: "a", FileTypes: []string{"src/*.go"}}, []string{"/file_types/0 bad_glob include"}},
		{"list", actions.List{Path: "../x", Depth: -1, Include: []string{"*.go"}}, nil},
		{"globs of list", actions.List{FileTypes: []string{"a*"}, Include: []string{"["}, Exclude: []string{"/a"}},
			[]string{"/include/0 bad_glob valid", "/exclude/0 bad_glob slash", "/file_types/0 bad_glob include"}},
		{"size", actions.Search{Pattern: "a", MaxFileBytes: -1}, []string{"/max_file_bytes bad_range negative"}},
		{"the tags see to what is missing", actions.Edit{}, nil},
		{"and to unknown modes", actions.Edit{OldText: "(", Mode: "glob"}, nil},
		{"literal", actions.Edit{OldText: "(", NewText: "$1x"}, nil},
		{"edit regex", actions.Edit{OldText: "(a)", NewText: "$1x", Mode: "regex"}, []string{"/new_text bad_replacement ${1}x"}},
		{"edit template", actions.Edit{OldText: "(a)", NewText: "$1x{{a.count}}", Mode: "regex"}, nil},
		{"count", actions.CountOccurrences{Pattern: "[", Mode: "regex"}, []string{"/pattern bad_pattern missing closing ]"}},
		{"patterns", actions.RegexTransform{Patterns: []actions.PatternEdit{
			{Pattern: "a"}, {Pattern: "(b)", Replacement: "$2"}, {Pattern: "*"}, {Pattern: "a", Flags: "g"}, {Pattern: "(?P<n>a)", Replacement: "${n}$n$$"},
		}}, []string{"/patterns/1/replacement bad_replacement no group $2", "/patterns/2/pattern bad_pattern missing argument", "/patterns/3/flags bad_flags 'g'"}},
		{"many patterns", actions.RegexTransform{Patterns: make([]actions.PatternEdit, 10_000+1)}, []string{"/patterns too_many 10001"}},
		{"many edits", actions.MultiEdit{Edits: make([]actions.TextEdit, 10_000+1)}, []string{"/edits too_many 10001"}},
		{"ranges", actions.ReadRanges{Ranges: ranges(1, 0, -5, 3, 2, -1, 5, 5)}, nil},
		{"turned round", actions.ReadRanges{Ranges: ranges(3, 2, -1, -2)}, []string{"/ranges/0 bad_range ends at line 2", "/ranges/1 bad_range ends at line -2"}},
		{"lines turned round", actions.ReadRanges{StartLine: 3, EndLine: 2}, []string{"/end_line bad_range begins at line 3"}},
		{"both", actions.ReadRanges{StartLine: 3, Ranges: ranges(1, 1)}, []string{"/ranges bad_range start_line"}},
		{"copy", actions.Copy{Destination: "o"}, nil},
		{"no destination", actions.Copy{}, []string{" missing_param copy action requires 'destination' parameter"}},
		{"rename to", actions.Rename{To: "{{dir}}/x"}, nil},
		{"unknown part", actions.Rename{To: "{{file}}"}, []string{"/to bad_target {{file}}"}},
		{"open part", actions.Rename{To: "{{dir"}, []string{"/to bad_target without }}"}},
		{"to a directory", actions.Rename{To: "x/"}, []string{"/to bad_target destination"}},
		{"to and paths", actions.Rename{To: "{{name}}", PreservePaths: true}, []string{"/preserve_paths bad_target {{dir}}"}},
		{"useless base", actions.Rename{Destination: "o", Base: "b"}, []string{"/base bad_target no effect"}},
		{"to with a template", actions.Rename{To: "{{a.count}}"}, nil},
		{"exec", actions.Exec{Command: "go", Args: []string{"vet", "./..."}, Dir: "a/..", Stdin: []string{"x"}, OKCodes: []int{0, 255}}, nil},
		{"exec of a path with a blank", actions.Exec{Command: "./my tool"}, nil},
		{"exec templates", actions.Exec{Command: "{{a.output}} x", Dir: "../{{a.output}}", Stdin: []any{"{{a.files}}"}}, nil},
		{"exec of nothing", actions.Exec{}, []string{"/command bad_command requires"}},
		{"exec of both", actions.Exec{Command: "a", Shell: "b"}, []string{"/shell bad_command exclude"}},
		{"exec of a line", actions.Exec{Command: "go vet ./..."}, []string{"/command bad_command args"}},
		{"exec of a script with args", actions.Exec{Shell: "true", Args: []string{"x"}}, []string{"/args bad_command script"}},
		{"exec NUL", actions.Exec{Command: "a", Args: []string{"b", "\x00"}}, []string{"/args/1 bad_command NUL"}},
		{"exec out of the tree", actions.Exec{Command: "a", Dir: "a/../../b"}, []string{"/dir bad_dir not in the tree"}},
		{"exec in a directory of the system", actions.Exec{Command: "a", Dir: "/tmp"}, []string{"/dir bad_dir relative"}},
		{"exec env", actions.Exec{Command: "a", Env: map[string]string{"": "x", "A=B": "x", "C/D": "\x00"}}, []string{"/env bad_env ''", "/env bad_env 'A=B'", "/env/C~1D bad_env NUL"}},
		{"exec stdin", actions.Exec{Command: "a", Stdin: map[string]any{}}, []string{"/stdin bad_stdin string"}},
		{"exec stdin of objects", actions.Exec{Command: "a", Stdin: []any{"a", nil}}, []string{"/stdin bad_stdin string"}},
		{"exec codes", actions.Exec{Command: "a", OKCodes: []int{0, 256, -1}}, []string{"/ok_codes/1 bad_range 256", "/ok_codes/2 bad_range -1"}},
		{"exec globs", actions.Exec{Command: "a", Needs: []string{"["}, Exclude: []string{"/a"}, Writes: []string{""}},
			[]string{"/needs/0 bad_glob valid", "/exclude/0 bad_glob slash", "/writes/0 bad_glob empty"}},
		{"exec drops what it writes", actions.Exec{Command: "a", Discard: true, Writes: []string{"x"}}, []string{"/writes bad_range discard"}},
		{"exec drops what is ignored", actions.Exec{Command: "a", Discard: true, NoIgnore: true}, []string{"/no_ignore bad_range discard"}},
		{"exec output", actions.Exec{Command: "a", MaxOutput: -1}, []string{"/max_output bad_range -1"}},
		{"diff", actions.Diff{FileA: "a", FileB: "b", Context: new(-2)}, []string{"/context bad_range negative"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &actions.Check{IsTemplated: func(s string) bool { return strings.Contains(s, "{{a.") }}
			test.action.Validate(c)
			if len(c.Problems) != len(test.want) {
				t.Fatalf("problems %+v, want %q", c.Problems, test.want)
			}
			for i, p := range c.Problems {
				parts := strings.SplitN(test.want[i], " ", 3)
				if p.Param != parts[0] || p.Code != parts[1] || !strings.Contains(p.Message+" "+p.Hint, parts[2]) {
					t.Errorf("problem %+v, want %q", p, test.want[i])
				}
			}
		})
	}
}

func TestTouches(t *testing.T) {
	given := []string{"a.txt", "d/b.txt"}
	for _, test := range []struct {
		action actions.Toucher
		want   string
	}{
		{actions.Search{Pattern: "x"}, "[.] [] true"},
		{actions.Search{Pattern: "x", Path: "./d/e"}, "[d/e d/.gitignore .gitignore] [] true"},
		{actions.Search{Pattern: "x", Path: "d", NoIgnore: true}, "[d] [] true"},
		{actions.List{Path: "d/", NoIgnore: true}, "[d] [] true"},
		{actions.List{Path: "d/e"}, "[d/e d/.gitignore .gitignore] [] true"},
		{actions.ReadRanges{Files: given}, "[a.txt d/b.txt] [] true"},
		{actions.ReadRanges{Paths: given}, "[a.txt d/b.txt] [] true"},
		{actions.CountOccurrences{Files: given}, "[a.txt d/b.txt] [] true"},
		{actions.Edit{Files: given}, "[a.txt d/b.txt] [a.txt d/b.txt] true"},
		{actions.MultiEdit{Files: given}, "[a.txt d/b.txt] [a.txt d/b.txt] true"},
		{actions.RegexTransform{Files: given}, "[a.txt d/b.txt] [a.txt d/b.txt] true"},
		{actions.Copy{Files: given, Destination: "o"}, "[a.txt d/b.txt] [o/a.txt o/b.txt] true"},
		{actions.Rename{Files: given, To: "{{dir}}/{{stem}}"}, "[a.txt d/b.txt] [./a d/b a.txt d/b.txt] true"},
		{actions.Rename{Files: given, To: "x"}, "[] [] false"},
		{actions.Delete{Files: given}, "[a.txt d/b.txt] [a.txt d/b.txt] true"},
		{actions.Diff{FileA: "a", FileB: "b"}, "[a b] [] true"},
		{actions.Exec{Command: "a"}, "[] [] false"},
		{actions.Merge{}, "[] [] true"},
		{actions.Aggregate{}, "[] [] true"},
	} {
		before := slices.Clone(given)
		reads, writes, known := test.action.Touches()
		if got := fmt.Sprint(reads, writes, known); got != test.want {
			t.Errorf("%+v: %s, want %s", test.action, got, test.want)
		}
		if !slices.Equal(given, before) {
			t.Fatal("the parameters were changed")
		}
	}
}

package actions_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// TestEditFilesValidate decodes edits from JSON and checks the problems of each.
func TestEditFilesValidate(t *testing.T) {
	const at = "/file_edits/0/edits/"
	hash := sum("a")
	for _, test := range []struct {
		name, edits string
		want        []string // pointer, code, part of the message or of the hint
	}{
		{"as in the issue", `{"command":"insert","insert_line":0,"new_str":"// top\n","content_hash":"` + hash + `"},
			{"command":"replace_lines","start_line":3,"end_line":5,"new_str":"…\n","range_hash":"` + hash + `"},
			{"command":"str_replace","old_str":"a","new_str":"b","replace_all":true},
			{"command":"append","new_str":"…\n"},{"command":"create","file_text":"…","overwrite":true}`, nil},
		{"create only", `{"command":"create","file_text":"","create_only":true}`, nil},
		{"what is empty", `{"command":"create","file_text":""},{"command":"str_replace","old_str":"a","new_str":""},{"command":"replace_lines","start_line":-3,"end_line":-1,"new_str":""}`, nil},
		{"nothing but a command", `{"command":"create"},{"command":"str_replace"},{"command":"insert"},{"command":"append"},{"command":"replace_lines"}`, []string{
			at + "0/file_text missing_param create needs 'file_text'",
			at + "1/old_str missing_param str_replace needs 'old_str'", at + `1/new_str missing_param write "" to delete`,
			at + "2/new_str missing_param insert needs 'new_str'", at + "2/insert_line missing_param 0 for the top",
			at + "3/new_str missing_param append needs 'new_str'",
			at + "4/new_str missing_param replace_lines needs 'new_str'",
			at + "4/start_line missing_param count from 1", at + "4/end_line missing_param -1 is the last",
		}},
		{"no line", `{"command":"replace_lines","end_line":1,"new_str":"x"}`, []string{at + "0/start_line missing_param count from 1"}},
		{"what does not belong", `{"command":"create","file_text":"x","new_str":"","replace_all":true,"range_hash":"` + hash + `"},
			{"command":"str_replace","old_str":"a","new_str":"b","insert_line":0,"start_line":1},
			{"command":"insert","insert_line":1,"new_str":"b","end_line":2,"file_text":""},
			{"command":"append","new_str":"b","old_str":"a","overwrite":true,"create_only":true}`, []string{
			at + "0/new_str unused_param create does not take", at + "0/replace_all unused_param leave it out", at + "0/range_hash unused_param create does not",
			at + "1/insert_line unused_param str_replace does not", at + "1/start_line unused_param str_replace does not",
			at + "2/file_text unused_param insert does not", at + "2/end_line unused_param insert does not",
			at + "3/create_only unused_param append does not", at + "3/overwrite unused_param append does not", at + "3/old_str unused_param append does not",
		}},
		{"turned round", `{"command":"replace_lines","start_line":3,"end_line":2,"new_str":"x"},{"command":"replace_lines","start_line":-1,"end_line":-2,"new_str":"x"},
			{"command":"replace_lines","start_line":3,"end_line":-9,"new_str":"x"}`,
			[]string{at + "0/end_line bad_range line 2, before", at + "1/end_line bad_range line -2, before"}},
		{"hashes", `{"command":"append","new_str":"x","content_hash":"` + hash[:11] + `"},{"command":"append","new_str":"x","content_hash":"` + hash + `0"},
			{"command":"insert","insert_line":1,"new_str":"x","range_hash":"sha256:` + hash[:20] + `"},{"command":"append","new_str":"x","content_hash":"` + strings.ToUpper(hash[:12]) + `"}`,
			[]string{at + "0/content_hash bad_hash 12", at + "1/content_hash bad_hash 64", at + "2/range_hash bad_hash hexadecimal"}},
		{"the hash of nothing", `{"command":"insert","insert_line":0,"new_str":"x","range_hash":"` + hash + `"},{"command":"create","file_text":"x","content_hash":"` + hash + `"}`,
			[]string{at + "0/range_hash unused_param use content_hash", at + "1/content_hash unused_param overwrite"}},
		{"created twice", `{"command":"create","file_text":"x"},{"command":"create","file_text":"x"}`, []string{at + "1/command unused_param by edit 0 too"}},
		{"only or over", `{"command":"create","file_text":"x","create_only":true,"overwrite":true}`, []string{at + "0/overwrite unused_param exclude"}},
		{"templates", `{"command":"{{a.x}}"},{"command":"insert","insert_line":"{{a.count}}","new_str":"{{a.files}}","content_hash":"{{a.x}}"},
			{"command":"replace_lines","start_line":"{{a.count}}","end_line":1,"new_str":"x"},{"command":"append","new_str":"x","insert_line":"{{a.count}}"}`,
			[]string{at + "3/insert_line unused_param append does not"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := validate(t, `{"file_edits":[{"path":"a","edits":[`+test.edits+`]}]}`)
			wantProblems(t, c, test.want)
		})
	}
}

// validate decodes an edit_files and validates it.
func validate(t *testing.T, source string) *actions.Check {
	t.Helper()
	node, err := strictjson.Parse([]byte(source), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	templated := func(s string) bool { return strings.Contains(s, "{{a.") }
	got, binds, problems := params.Decode(actions.EditFiles{}, node, "edit_files", templated)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := &actions.Check{IsTemplated: templated, IsBound: func(param string) bool { _, ok := binds[param]; return ok }}
	got.(actions.EditFiles).Validate(c)
	return c
}

func wantProblems(t *testing.T, c *actions.Check, want []string) {
	t.Helper()
	if len(c.Problems) != len(want) {
		t.Fatalf("problems %+v, want %q", c.Problems, want)
	}
	for i, p := range c.Problems {
		parts := strings.SplitN(want[i], " ", 3)
		if p.Param != parts[0] || p.Code != parts[1] || !strings.Contains(p.Message+" "+p.Hint, parts[2]) {
			t.Errorf("problem %+v, want %q", p, want[i])
		}
	}
}

func TestEditFilesValidateStep(t *testing.T) {
	const edit = `"edits":[{"command":"append","new_str":"x"}]`
	hash := `"content_hash":"` + sum("a") + `"`
	for _, test := range []struct {
		name, params string
		want         []string
	}{
		{"twice", `"file_edits":[{"path":"a/b",` + edit + `},{"path":"c",` + edit + `},{"path":"./a//b",` + edit + `}]`, []string{"/file_edits/2/path same_path file_edits[0]"}},
		{"twice, perhaps", `"file_edits":[{"path":"{{a.files[0]}}",` + edit + `},{"path":"{{a.files[0]}}",` + edit + `}]`, nil},
		{"no hash", `"require_hash":true,"file_edits":[{"path":"a",` + edit + `},
			{"path":"b","edits":[{"command":"append","new_str":"x",` + hash + `},{"command":"str_replace","old_str":"a","new_str":"b"},{"command":"insert","insert_line":1,"new_str":"x","range_hash":"` + sum("b") + `"}]},
			{"path":"c","edits":[{"command":"create","file_text":""},{"command":"append","new_str":"x"}]}]`,
			[]string{"/file_edits/0/edits/0/content_hash missing_param read_ranges", "/file_edits/1/edits/1/content_hash missing_param str_replace has no hash"}},
		{"too many", `"file_edits":[{"path":"a","edits":[` + strings.TrimSuffix(strings.Repeat(`{"command":"append","new_str":"x"},`, 10_001), ",") + `]}]`,
			[]string{"/file_edits/0/edits too_many 10001"}},
	} {
		t.Run(test.name, func(t *testing.T) { wantProblems(t, validate(t, "{"+test.params+"}"), test.want) })
	}
	var c actions.Check
	actions.EditFiles{FileEdits: make([]actions.FileEdits, 10_000+1)}.Validate(&c)
	wantProblems(t, &c, []string{"/file_edits too_many 10001"})
}

func TestCreateValidate(t *testing.T) {
	for _, test := range []struct {
		create actions.Create
		bound  string
		want   []string
	}{
		{actions.Create{Path: "a"}, "", nil},
		{actions.Create{Paths: []string{"a"}}, "", nil},
		{actions.Create{}, "/paths", nil},
		{actions.Create{}, "", []string{"/path missing_param 'path' or 'paths'"}},
		{actions.Create{Path: "a", Paths: []string{"b"}}, "", []string{"/paths unused_param one of them"}},
		{actions.Create{Path: "a"}, "/paths", []string{"/paths unused_param one of them"}},
	} {
		c := &actions.Check{IsBound: func(param string) bool { return param == test.bound }}
		test.create.Validate(c)
		wantProblems(t, c, test.want)
	}
}

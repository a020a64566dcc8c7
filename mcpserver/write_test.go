package mcpserver_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

type written struct {
	Path         string `json:"path"`
	Success      bool   `json:"success"`
	Error        string `json:"error"`
	Applied      int    `json:"edits_applied"`
	Failed       int    `json:"edits_failed"`
	Replacements int    `json:"replacements"`
	WouldModify  bool   `json:"would_modify"`
	Preview      string `json:"preview"`
	BackupID     string `json:"backup_id"`
	FailedEdits  []struct {
		Command string `json:"command"`
		Error   string `json:"error"`
	} `json:"failed_edits"`
}

func TestWriteSingle(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\nthree\n", nil)
	for _, step := range []struct{ args, want string }{
		{`"command":"str_replace","path":"a.txt","old_str":"two","new_str":"2 {{x}}"`, "one\n2 {{x}}\nthree\n"},
		{`"command":"insert","path":"a.txt","insert_line":1,"new_str":"1b"`, "one\n1b\n2 {{x}}\nthree\n"},
		{`"command":"replace_lines","path":"a.txt","start_line":2,"end_line":3,"new_str":"2"`, "one\n2\nthree\n"},
		{`"command":"append","path":` + quote(filepath.Join(c.dir, "a.txt")) + `,"new_str":"four\n"`, "one\n2\nthree\nfour\n"},
		{`"command":"create","path":"a.txt","overwrite":true,"file_text":"new\n"`, "new\n"},
	} {
		got := first[written](t, c.good("fs_write", "{"+step.args+"}"))
		if !got.Success || filepath.Base(got.Path) != "a.txt" || got.Applied != 1 || got.BackupID == "" {
			t.Errorf("%s: the answer is %+v", step.args, got)
		}
		c.holds("-- a.txt --\n" + step.want)
	}
	has(t, c.good("fs_write", `{"path":"a.txt","old_str":"new","new_str":"new"}`).text, "a.txt: the edits change nothing")
	c.good("fs_write", `{"command":"create","path":"deep/new.txt","file_text":"x\n"}`)
	c.bad("fs_write", `{"command":"create","path":"deep/new.txt","file_text":"y\n"}`, "file already exists")
	c.bad("fs_write", `{"command":"str_replace","path":"a.txt","old_str":"nope","new_str":""}`, "step_failed: ", "String not found in file")
	c.bad("fs_write", `{"command":"str_replace","path":"a.txt","new_str":""}`, "invalid_arguments: 1 problem", "old_str")
	c.bad("fs_write", `{"command":"obliterate","path":"a.txt"}`, "/command: unsupported 'command' 'obliterate'")
	c.bad("fs_write", `{"command":"append","new_str":"x"}`, "one of 'path' and 'fileEdits' is required")
	c.bad("fs_write", `{"command":"append","path":"a.txt","new_str":"x","sed_pattern":"s/a/b/"}`, "/sed_pattern: 'sed_pattern' is for pattern_replace")
	c.bad("fs_write", `{"command":"append","path":"../a.txt","new_str":"x"}`, "escapes")
	c.bad("fs_write", `{"command":"append","path":".millrace/x","new_str":"x"}`)
	c.bad("fs_write", `{"command":"insert","path":"a.txt","insert_line":99,"new_str":"x"}`, "Line number out of range")
	c.bad("fs_write", `{"command":"append","path":"a.txt","new_str":"x","content_hash":"`+strings.Repeat("0", 64)+`"}`, "a.txt")
}

func TestWriteBatch(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\n", nil)
	r := c.good("fs_write", `{"command":"str_replace","fileEdits":[`+
		`{"path":"a.txt","edits":[{"command":"str_replace","old_str":"one","new_str":"1"},{"command":"append","new_str":"three\n"}]},`+
		`{"path":"nope.txt","edits":[{"command":"str_replace","old_str":"x","new_str":"y"}]}]}`)
	list := first[[]written](t, r)
	if len(list) != 2 || !list[0].Success || list[0].Applied != 2 || list[1].Success || list[1].Failed != 1 ||
		list[1].Error != "File not found" {
		t.Errorf("the list is %+v", list)
	}
	if len(list[1].FailedEdits) != 1 || list[1].FailedEdits[0].Command != "str_replace" {
		t.Errorf("the failed edits are %+v", list[1].FailedEdits)
	}
	has(t, r.text, "OK: 1/1 steps", "backup: ")
	if len(r.data["files"].([]any)) != 2 || r.data["backup_id"] == "" {
		t.Errorf("the data are %v", r.data)
	}
	c.holds("-- a.txt --\n1\ntwo\nthree\n")
	c.bad("fs_write", `{"command":"append","fileEdits":[{"path":"nope.txt","edits":[{"command":"append","new_str":"y"}]}]}`, "File not found")
	c.bad("fs_write", `{"command":"append","fileEdits":[{"path":"a.txt","edits":[{"command":"appendix","new_str":"y"}]}]}`,
		"/fileEdits/0/edits/0/command: ", "'append'")
	c.bad("fs_write", `{"command":"append","fileEdits":[{"path":"a.txt","edits":[{"command":"append","new_txt":"y"}]}]}`,
		"/fileEdits/0/edits/0/new_txt: ", "did you mean 'new_str'?")
	c.bad("fs_write", `{"command":"append","fileEdits":[{"path":"a.txt","edits":[]}],"new_str":"x"}`, "/new_str")
}

func TestWriteDryRun(t *testing.T) {
	const old, other = "-- a.js --\nconst x = 5;\n", "-- dist/b.js --\nconst y = 5;\n"
	c := serve(t, mcpserver.Config{}, old+other, nil)
	type dry struct {
		Success bool      `json:"success"`
		DryRun  bool      `json:"dry_run"`
		Files   []written `json:"files"`
	}
	for _, args := range []string{
		`{"command":"str_replace","path":"a.js","old_str":"const ","new_str":"let ","dry_run":true}`,
		`{"command":"pattern_replace","directory":` + quote(c.dir) + `,"file_pattern":"*.js","sed_pattern":"s/const /let /g","recursive":true,"exclude_patterns":["dist/**"],"dry_run":true}`,
	} {
		got := first[dry](t, c.good("fs_write", args))
		if !got.Success || !got.DryRun || len(got.Files) != 1 || !got.Files[0].WouldModify ||
			!strings.Contains(got.Files[0].Preview, "-const x = 5;\n+let x = 5;\n") {
			t.Errorf("%s: the answer is %+v", args, got)
		}
	}
	c.holds(old + other)
	r := c.good("fs_write", `{"command":"pattern_replace","directory":".","file_pattern":"*.js","sed_pattern":"s/const /let /g","recursive":true,"exclude_patterns":["dist/**"]}`)
	got := first[struct {
		Success  bool      `json:"success"`
		Modified int       `json:"files_modified"`
		Skipped  int       `json:"files_skipped"`
		Files    []written `json:"files"`
	}](t, r)
	if !got.Success || got.Modified != 1 || len(got.Files) != 1 || got.Files[0].Replacements != 1 ||
		r.data["files_modified"] != 1.0 {
		t.Errorf("the answer is %+v", got)
	}
	c.holds("-- a.js --\nlet x = 5;\n" + other)
	c.bad("fs_write", `{"command":"pattern_replace","directory":"."}`, "2 problems", "'file_pattern' is required", "'sed_pattern' is required")
	c.bad("fs_write", `{"command":"pattern_replace","file_pattern":"*.js","sed_pattern":"s/("}`, "/sed_pattern")
}

// For any number of files in a call, each part of its answer is within the limit.
func TestWriteTooLong(t *testing.T) {
	var files strings.Builder
	var edits []string
	for i := range 90 {
		name := fmt.Sprintf("%s%d.txt", strings.Repeat("long-name-", 15), i)
		fmt.Fprintf(&files, "-- %s --\n%s", name, strings.Repeat("a line of text that is there\n", 100))
		edits = append(edits, fmt.Sprintf(`{"path":%q,"edits":[{"command":"str_replace","old_str":"a line","new_str":"another line","replace_all":true}]}`, name))
	}
	for _, dry := range []string{"false", "true"} {
		c := serve(t, mcpserver.Config{}, files.String(), nil)
		c.call("fs_write", `{"command":"str_replace","dry_run":`+dry+`,"fileEdits":[`+strings.Join(edits, ",")+`]}`).fits(t)
	}
}

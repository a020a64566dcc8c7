package oneline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// here is a working directory in a tree in which some names exist.
func here(dir string) oneline.Where {
	return oneline.Where{
		Root: "/home/user/tree",
		Dir:  dir,
		Look: func(name string) oneline.Kind {
			switch name {
			case ".", "src", "src/deep", "lib", "sub", "we{ird", "sub/a,b":
				return oneline.Dir
			case "link":
				return oneline.DirLink
			case "a.go", "b.go", "src/a.go", "sub/a.go", "[x].go", "{{a.b}}":
				return oneline.File
			}
			return oneline.Nothing
		},
		Read: func(name string) ([]byte, error) {
			text, ok := map[string]string{
				"-": "a.go\x00new\nline.go\x00\x00b.go", "names": "a.go\r\n\nb.go\na.go", "empty": "\n", "x.diff": "@@\n-a\n+b\n", "t": "{{a.b}}\n",
			}[name]
			if !ok {
				return nil, fmt.Errorf("no file %q", name)
			}
			return []byte(text), nil
		},
	}
}

// want is the expected result: steps as JSON with single quotes, or an error that contains a text.
type want struct{ steps, err string }

func check(t *testing.T, p millrace.Pipeline, err error, w want) {
	t.Helper()
	if w.err != "" {
		if wrong, ok := errors.AsType[*oneline.UsageError](err); !ok || !strings.Contains(wrong.Error(), w.err) {
			t.Errorf("error %v, want %q", err, w.err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Steps json.RawMessage }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	steps := "[" + strings.ReplaceAll(w.steps, "'", `"`) + "]"
	if diff := cmp.Diff(steps, string(got.Steps)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	again, err := millrace.Decode(data)
	if err != nil || !again.Equal(p) {
		t.Errorf("from JSON: %v\n%s", err, data)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir string
		r   oneline.Replace
		want
	}{
		"everywhere": {".", oneline.Replace{Old: "a", New: "b"}, want{steps: `{'id':'find','action':'search','params':{'pattern':'a','mode':'literal'}},` +
			`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}}`}},
		"here": {"sub", oneline.Replace{Old: "a", New: "b"}, want{steps: `{'id':'find','action':'search','params':{'path':'sub','pattern':'a','mode':'literal'}},` +
			`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}}`}},
		"one file": {"sub", oneline.Replace{Old: "a", New: "b", Paths: []string{"../src/../a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'a','new_text':'b'}}`}},
		"braces are not templates": {".", oneline.Replace{Old: "{{find.files}}", New: "", Paths: []string{"{{a.b}}"}},
			want{steps: `{'id':'fix','action':'edit','raw':true,'params':{'files':['{{a.b}}'],'old_text':'{{find.files}}','new_text':''}}`}},
		"filters": {"sub", oneline.Replace{Old: "a", New: "b", IgnoreCase: true, NoIgnore: true, Types: []string{"go,.js", "md"},
			Globs: []string{"*.go", "x/*.go", "!vendor/", "!../y", "../*.md"}, Paths: []string{".", "/home/user/tree/src/", "src", "."}},
			want{steps: `{'id':'find','action':'search','params':{'paths':['sub','src','sub/src'],'pattern':'a','mode':'literal','file_types':['.go','.js','.md'],` +
				`'include':['*.go','sub/x/*.go','*.md{,/}'],'exclude':['vendor/','y{,/}'],'no_ignore':true,'ignore_case':true}},` +
				`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b','ignore_case':true}}`}},
		"names with NUL": {".", oneline.Replace{Old: "a", New: "b", FilesFrom: "-", Nul: true, Paths: []string{"a.go"}, Common: oneline.Common{Expect: "2..3"}},
			want{steps: `{'id':'find','action':'search','params':{'paths':['a.go','new\nline.go','b.go'],'pattern':'a','mode':'literal'}},` +
				`{'id':'fix','action':'edit','input_from':'find','expect':{'min_edits':2,'max_edits':3},'params':{'old_text':'a','new_text':'b'}}`}},
		"names with lines": {".", oneline.Replace{Old: "a", New: "b", FilesFrom: "names"},
			want{steps: `{'id':'find','action':'search','params':{'paths':['a.go','b.go'],'pattern':'a','mode':'literal'}},` +
				`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}}`}},
		"expression": {".", oneline.Replace{Old: `a(\d)`, New: "$1", Regex: true, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'a(\\d)','new_text':'$1','mode':'regex'}}`}},
		"lines and words": {".", oneline.Replace{Old: `^a|b`, New: "", Regex: true, Words: true, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)\\b(?:^a|b)\\b','new_text':'','mode':'regex'}}`}},
		"words": {".", oneline.Replace{Old: `$a.b`, New: "$1", Words: true, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)\\B\\$a\\.b\\b','new_text':'$$1','mode':'regex'}}`}},
		"words, a letter beyond ASCII": {".", oneline.Replace{Old: "café", Words: true, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)\\bcafé\\b','new_text':'','mode':'regex'}}`}},
		"words, a backslash": {".", oneline.Replace{Old: "a", New: `\n`, Words: true, Paths: []string{"a.go"}},
			want{steps: `{'id':'fix','action':'edit','params':{'files':['a.go'],'old_text':'(?u)\\ba\\b','new_text':'\\\\n','mode':'regex'}}`}},
		"nothing":            {".", oneline.Replace{New: "a"}, want{err: "cannot be empty"}},
		"bad expression":     {".", oneline.Replace{Old: "(", Regex: true}, want{err: "missing closing )"}},
		"outside":            {"sub", oneline.Replace{Old: "a", Paths: []string{"../../x"}}, want{err: "outside of the tree '/home/user/tree'"}},
		"absolute elsewhere": {".", oneline.Replace{Old: "a", Paths: []string{"/home/user/tree2"}}, want{err: "outside of the tree"}},
		"glob as a path":     {".", oneline.Replace{Old: "a", Paths: []string{"*.go"}}, want{err: "write -g"}},
		"empty glob":         {".", oneline.Replace{Old: "a", Globs: []string{"!"}}, want{err: "glob cannot be empty"}},
		"bad glob":           {".", oneline.Replace{Old: "a", Globs: []string{"["}}, want{err: "'[' is not a valid glob"}},
		"bad type":           {".", oneline.Replace{Old: "a", Types: []string{"*.go"}}, want{err: "-t cannot be '*.go'"}},
		"empty path":         {".", oneline.Replace{Old: "a", Paths: []string{""}}, want{err: "name cannot be empty"}},
		"empty list":         {".", oneline.Replace{Old: "a", FilesFrom: "empty"}, want{err: "names no file"}},
		"-0 alone":           {".", oneline.Replace{Old: "a", Nul: true}, want{err: "--files-from"}},
		"expect a word":      {".", oneline.Replace{Old: "a", Common: oneline.Common{Expect: "some"}}, want{err: "--expect cannot be 'some'"}},
		"expect nothing":     {".", oneline.Replace{Old: "a", Common: oneline.Common{Expect: ".."}}, want{err: "--expect cannot be '..'"}},
		"expect -1":          {".", oneline.Replace{Old: "a", Common: oneline.Common{Expect: "-1"}}, want{err: "--expect cannot be"}},
		"expect backwards":   {".", oneline.Replace{Old: "a", Common: oneline.Common{Expect: "3..1"}}, want{err: "is not a range"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Replace(test.r)
			check(t, p, err, test.want)
		})
	}
}

func TestSed(t *testing.T) {
	t.Parallel()
	script := []string{"s/a/b/"}
	for name, test := range map[string]struct {
		dir string
		s   oneline.Sed
		want
	}{
		"glob": {".", oneline.Sed{Scripts: script, Files: []string{"src/**/*.js"}},
			want{steps: `{'id':'fix','action':'pattern_replace','params':{'directory':'src','file_pattern':'**/*.js','sed_pattern':['s/a/b/']}}`}},
		"globs": {"sub", oneline.Sed{Scripts: script, Files: []string{"*.js", "x/{a,b},c", "../sub/y[,]/*"}, NoIgnore: true, Exclude: []string{"v", "x/z"}},
			want{steps: `{'id':'fix','action':'pattern_replace','params':{'directory':'sub','file_pattern':'{*.js,x/{a,b}\\,c,y[,]/*}',` +
				`'exclude_patterns':['v','x/z'],'sed_pattern':['s/a/b/'],'no_ignore':true}}`}},
		"names": {".", oneline.Sed{Scripts: script, Files: []string{"a.go", "[x].go", "a.go"}, Syntax: "bre", Printed: true, Binary: true, Common: oneline.Common{Expect: "1.."}},
			want{steps: `{'id':'fix','action':'pattern_replace','expect':{'min_edits':1},'params':{'files':['a.go','[x].go'],'sed_pattern':['s/a/b/'],'syntax':'bre','quiet':true,'binary':true}}`}},
		"both": {".", oneline.Sed{Scripts: script, Files: []string{"*.go", "a.go", "src/a.go"}},
			want{steps: `{'id':'fix','action':'pattern_replace','params':{'files':['a.go','src/a.go'],'sed_pattern':['s/a/b/']}},` +
				`{'id':'fix2','action':'pattern_replace','params':{'file_pattern':'*.go','exclude_patterns':['a.go{,/}','src/a.go'],'sed_pattern':['s/a/b/']}}`}},
		"directory":        {"sub", oneline.Sed{Scripts: script, Files: []string{"../src"}}, want{err: "write '../src/**'"}},
		"odd directory":    {".", oneline.Sed{Scripts: script, Files: []string{"we{ird"}}, want{err: `write 'we\{ird/**'`}},
		"no glob":          {".", oneline.Sed{Scripts: script}, want{err: "a glob for the files to edit is required"}},
		"no script":        {".", oneline.Sed{Files: []string{"a.go"}}, want{err: "a script is required"}},
		"bad script":       {".", oneline.Sed{Scripts: []string{"s/a"}, Files: []string{"*"}}, want{err: "sed script: line 1"}},
		"names ignored":    {".", oneline.Sed{Scripts: script, Files: []string{"a.go"}, NoIgnore: true}, want{err: "go with globs"}},
		"dots in a glob":   {".", oneline.Sed{Scripts: script, Files: []string{"*/../x"}}, want{err: "'..' within a glob"}},
		"exclude nowhere":  {".", oneline.Sed{Scripts: script, Files: []string{"src/*"}, Exclude: []string{"lib/x"}}, want{err: "begins elsewhere"}},
		"expect of both":   {".", oneline.Sed{Scripts: script, Files: []string{"*", "a.go"}, Common: oneline.Common{Expect: "1"}}, want{err: "takes 2"}},
		"expect of no one": {".", oneline.Sed{Scripts: script, Files: []string{"*"}, Common: oneline.Common{Expect: "x"}}, want{err: "--expect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Sed(test.s)
			check(t, p, err, test.want)
		})
	}
}

// TestBackslash: on Windows names and globs have backslashes.
func TestBackslash(t *testing.T) {
	t.Parallel()
	w := here("sub")
	w.Root, w.Backslash = "C:/tree", true
	p, err := w.Transfer(oneline.Transfer{Sources: []string{`C:\tree\src\a.go`, `x\*.js`}, Dest: `..\lib\`})
	check(t, p, err, want{steps: `{'id':'find','action':'list','params':{'path':'sub/x','depth':1,'include':['sub/x/*.js'],'exclude':['src/a.go']}},` +
		`{'id':'move','action':'rename','params':{'files':['src/a.go'],'destination':'lib/'}},{'id':'move2','action':'rename','input_from':'find','params':{'destination':'lib/'}}`})
	p, err = w.Replace(oneline.Replace{Old: `a\b`, Paths: []string{`x\y`}, Globs: []string{`!x\z`}})
	check(t, p, err, want{steps: `{'id':'find','action':'search','params':{'path':'sub/x/y','pattern':'a\\b','mode':'literal','exclude':['sub/x/z']}},` +
		`{'id':'fix','action':'edit','input_from':'find','params':{'old_text':'a\\b','new_text':''}}`})
	_, err = w.Remove(oneline.Remove{Sources: []string{`D:\x`}})
	check(t, p, err, want{err: "outside of the tree"})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		r oneline.Remove
		want
	}{
		"files": {oneline.Remove{Sources: []string{"a.go", "{{a.b}}"}, Common: oneline.Common{Expect: "2"}},
			want{steps: `{'id':'remove','action':'delete','expect':{'min_files':2,'max_files':2},'raw':true,'params':{'files':['a.go','{{a.b}}']}}`}},
		"glob": {oneline.Remove{Sources: []string{"**/*.orig"}, NoIgnore: true},
			want{steps: `{'id':'find','action':'list','params':{'depth':-1,'include':['**/*.orig'],'no_ignore':true}},` +
				`{'id':'remove','action':'delete','input_from':'find','params':{}}`}},
		"directory":    {oneline.Remove{Sources: []string{"src"}}, want{err: "'src' is a directory; add -r for the directory itself, or write 'src/**'"}},
		"with -r":      {oneline.Remove{Sources: []string{"src/"}, Recursive: true}, want{steps: `{'id':'remove','action':'delete','params':{'files':['src'],'recursive':true}}`}},
		"nothing":      {oneline.Remove{}, want{err: "nothing to remove"}},
		"bad expect":   {oneline.Remove{Sources: []string{"a.go"}, Common: oneline.Common{Expect: "x"}}, want{err: "--expect"}},
		"names of all": {oneline.Remove{Sources: []string{"a.go"}, NoIgnore: true}, want{err: "goes with globs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(".").Remove(test.r)
			check(t, p, err, test.want)
		})
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		p oneline.Patch
		want
	}{
		"file": {oneline.Patch{File: "x.diff", Options: actions.Patch{Path: "a.go", Reverse: true}},
			want{steps: `{'id':'patch','action':'patch','params':{'patch':'@@\n-a\n+b\n','path':'sub/a.go','reverse':true}}`}},
		"in a directory": {oneline.Patch{File: "x.diff", Options: actions.Patch{Path: "x/a.go", Directory: "x"}},
			want{steps: `{'id':'patch','action':'patch','params':{'patch':'@@\n-a\n+b\n','path':'a.go','directory':'sub/x'}}`}},
		"elsewhere":       {oneline.Patch{File: "x.diff", Options: actions.Patch{Path: "a.go", Directory: "x"}}, want{err: "is not in --in"}},
		"empty":           {oneline.Patch{File: "empty"}, want{err: "the patch is empty"}},
		"only a template": {oneline.Patch{File: "t"}, want{err: "not a patch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here("sub").Patch(test.p)
			check(t, p, err, test.want)
		})
	}
	if _, err := here(".").Patch(oneline.Patch{File: "missing"}); err == nil || !strings.Contains(err.Error(), `no file "missing"`) {
		t.Errorf("error %v", err)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	for _, test := range []struct{ old, name, want string }{
		{"a", "", "replace a"}, {"a", "mine", "mine"}, {long, "", "replace " + strings.Repeat("é", 60) + "…"}, {"a\x1b[31m\nb", "", `replace a\x1b[31m\nb`},
	} {
		p, err := here(".").Replace(oneline.Replace{Old: test.old, Common: oneline.Common{Name: test.name}})
		if err != nil || p.Name() != test.want {
			t.Errorf("%q: name %q, want %q (%v)", test.old, p.Name(), test.want, err)
		}
	}
}

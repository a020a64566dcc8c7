package oneline_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

func TestDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir, args string // separated by spaces
		want
	}{
		"types": {".", "search pattern=1 context_lines=2 lines=true file_types=.go file_types=.js",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'1','file_types':['.go','.js'],'lines':true,'context_lines':2}}`}},
		"chain": {".", "search pattern=a then edit old_text=a new_text= then edit old_text=b new_text=c=d",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'edit','action':'edit','input_from':'search','params':{'old_text':'a','new_text':''}},` +
				`{'id':'edit2','action':'edit','input_from':'edit','params':{'old_text':'b','new_text':'c=d'}}`}},
		"lists": {".", "search pattern=a then search pattern=b then merge mode=difference then delete",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'search2','action':'search','params':{'pattern':'b'}},` +
				`{'id':'merge','action':'merge','input_from_all':['search','search2'],'params':{'mode':'difference'}},{'id':'delete','action':'delete','input_from':'merge','params':{}}`}},
		"own files": {".", "search pattern=a then edit files=a.go files=b.go old_text=a new_text={{search.count}}",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'edit','action':'edit','params':{'files':['a.go','b.go'],'old_text':'a','new_text':'{{search.count}}'}}`}},
		"sed": {".", "search pattern=a then pattern_replace sed_pattern=s/a/b/",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'pattern_replace','action':'pattern_replace','params':{'files':'{{search.files}}','sed_pattern':['s/a/b/']}}`}},
		"sed below": {"sub", "search pattern=a then pattern_replace sed_pattern=s/a/b/",
			want{steps: `{'id':'search','action':'search','params':{'path':'sub','pattern':'a'}},{'id':'pattern_replace','action':'pattern_replace','params':{'files':'{{search.files}}','sed_pattern':['s/a/b/']}}`}},
		"sed by a glob below": {"sub", "pattern_replace file_pattern=* sed_pattern=s/a/b/",
			want{steps: `{'id':'pattern_replace','action':'pattern_replace','params':{'directory':'sub','file_pattern':'*','sed_pattern':['s/a/b/']}}`}},
		"sed by a glob": {".", "search pattern=a then pattern_replace file_pattern=* sed_pattern=s/a/b/",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'pattern_replace','action':'pattern_replace','params':{'file_pattern':'*','sed_pattern':['s/a/b/']}}`}},
		"JSON": {".", `multi_edit files:=["a.go"] edits:=[{"old_text":"a","new_text":"b"}]`,
			want{steps: `{'id':'multi_edit','action':'multi_edit','params':{'files':['a.go'],'edits':[{'old_text':'a','new_text':'b'}]}}`}},
		"a file": {".", "create path=x content=@names", want{steps: `{'id':'create','action':'create','params':{'path':'x','content':'a.go\r\n\nb.go\na.go'}}`}},
		"from below": {"sub", "edit files=a.go files=../b.go old_text=a new_text=b then rename to=c.go",
			want{steps: `{'id':'edit','action':'edit','params':{'files':['sub/a.go','b.go'],'old_text':'a','new_text':'b'}},{'id':'rename','action':'rename','input_from':'edit','params':{'to':'sub/c.go'}}`}},
		"home":      {"sub", "search pattern=a include=x/*.go", want{steps: `{'id':'search','action':'search','params':{'path':'sub','pattern':'a','include':['sub/x/*.go']}}`}},
		"elsewhere": {"sub", "search pattern=a path=/home/user/tree", want{steps: `{'id':'search','action':'search','params':{'path':'.','pattern':'a'}}`}},
		"templates": {".", "search pattern=a then read_ranges start_line={{search.count}}", want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'read_ranges','action':'read_ranges','input_from':'search','params':{'start_line':'{{search.count}}'}}`}},
		"a glob": {".", "edit files=*.go old_text=a new_text=b",
			want{steps: `{'id':'find','action':'list','params':{'depth':1,'include':['*.go']}},{'id':'edit','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}}`}},
		"globs from below": {"sub", "delete files=*.go files=x/**/*.js",
			want{steps: `{'id':'find','action':'list','params':{'path':'sub','depth':1,'include':['sub/*.go']}},{'id':'find2','action':'list','params':{'path':'sub/x','depth':-1,'include':['sub/x/**/*.js']}},` +
				`{'id':'delete','action':'delete','input_from_all':['find','find2'],'params':{}}`}},
		"a glob beside a name": {".", "delete files=*.go files=a.go", want{steps: `{'id':'delete','action':'delete','params':{'files':['*.go','a.go']}}`}},
		"a glob in the end": {".", "search pattern=a then edit files=*.go old_text=a new_text=b then delete",
			want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},{'id':'find','action':'list','params':{'depth':1,'include':['*.go']}},` +
				`{'id':'edit','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}},{'id':'delete','action':'delete','input_from':'edit','params':{}}`}},
		"no action":     {".", "", want{err: "an action is missing"}},
		"then first":    {".", "then edit", want{err: "stands between two steps"}},
		"then last":     {".", "search pattern=a then", want{err: "an action is missing"}},
		"then twice":    {".", "search pattern=a then then edit", want{err: "stands between"}},
		"no name":       {".", "pattern=a", want{err: "is not an action"}},
		"two actions":   {".", "search edit", want{err: "'edit' is not a parameter of search"}},
		"unknown":       {".", "serch pattern=a", want{err: "did you mean 'search'"}},
		"typo":          {".", "edit files=a old_txt=a new_text=b", want{err: "did you mean 'old_text'"}},
		"no number":     {".", "search pattern=a context_lines=many", want{err: "whole number"}},
		"no flag":       {".", "search pattern=a lines=yes", want{err: "true or false"}},
		"twice":         {".", "search pattern=a pattern=b", want{err: "given twice, and is not a list"}},
		"twice as JSON": {".", `search pattern=a pattern:="b"`, want{err: "given twice"}},
		"bad JSON":      {".", "search pattern:=a", want{err: "write JSON after"}},
		"more JSON":     {".", "search pattern:=1}", want{err: "more behind the value"}},
		"JSON as text":  {".", `edit files=["a.go"] old_text=a new_text=b`, want{err: "write files:=JSON"}},
		"class, a glob": {".", `edit files=[ab].go old_text=a new_text=b`, want{
			steps: `{'id':'find','action':'list','params':{'depth':1,'include':['[ab].go']}},{'id':'edit','action':'edit','input_from':'find','params':{'old_text':'a','new_text':'b'}}`}},
		"half a pair":   {".", `search pattern:="\ud800"`, want{err: "surrogate"}},
		"no text":       {".", "search pattern=\xff", want{err: "'pattern' of search takes text, and this is not UTF-8"}},
		"no text, JSON": {".", "search pattern:=\"\xff\"", want{err: "is not UTF-8"}},
		"bytes":         {".", "create path=x content=a\xff", want{steps: `{'id':'create','action':'create','params':{'path':'x','content':{'base64':'Yf8='}}}`}},
		"bytes, twice":  {".", "create path=x content=a content=\xff", want{err: "given twice"}},
		"outside":       {".", "edit files=/etc/passwd old_text=a new_text=b", want{err: "outside of the tree"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Do(oneline.Do{Args: strings.Fields(test.args)})
			check(t, p, err, test.want)
		})
	}
}

// TestDo_to: a new name counts from the working directory, with and without parts of the old name, and from a destination.
func TestDo_to(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir, args string // of a rename of a.go
		want      string // further parameters, or "" for an error with err
		err       string
	}{
		"a name":                  {"sub", "to=c.go", `'to':'sub/c.go'`, ""},
		"up":                      {"sub", "to=../c.go", `'to':'c.go'`, ""},
		"absolute":                {"sub", "to=/home/user/tree/c.go", `'to':'c.go'`, ""},
		"absolute at the root":    {".", "to=/home/user/tree/c.go", `'to':'c.go'`, ""},
		"outside":                 {"sub", "to=/home/c.go", "", "outside of the tree"},
		"outside by parts":        {"sub", "to=../../{{name}}", "", "outside of the tree"},
		"a directory":             {"sub", "to=new/", "", "use destination for a directory"},
		"an absolute directory":   {"sub", "to=/home/user/tree/new/", "", "use destination for a directory"},
		"a directory of parts":    {"sub", "to={{stem}}/", "", "add {{name}} to its end"},
		"parts":                   {"sub", "to={{stem}}.md", `'destination':'sub/','to':'{{stem}}.md'`, ""},
		"parts at the root":       {".", "to=x/{{stem}}.md", `'to':'x/{{stem}}.md'`, ""},
		"parts up":                {"sub", "to=../old/x-{{name}}", `'destination':'old/','to':'x-{{name}}'`, ""},
		"absolute parts":          {".", "to=/home/user/tree/old/{{name}}", `'destination':'old/','to':'{{name}}'`, ""},
		"directories":             {"sub", "to={{dir}}/{{stem}}.md", `'destination':'sub/','to':'{{dir}}/{{stem}}.md','base':'sub'`, ""},
		"own base":                {"sub", "base=x to={{dir}}/{{name}}", `'destination':'sub/','to':'{{dir}}/{{name}}','base':'sub/x'`, ""},
		"own destination":         {"sub", "to=c.go destination=x", `'destination':'sub/x','to':'c.go'`, ""},
		"parts below it":          {"sub", "to=y/{{name}} destination=x", `'destination':'sub/x','to':'y/{{name}}'`, ""},
		"directories below it":    {"sub", "to={{dir}}/{{name}} destination=x", `'destination':'sub/x','to':'{{dir}}/{{name}}','base':'sub'`, ""},
		"absolute below it":       {"sub", "to=/home/user/tree/c.go destination=x", "", "leave out destination"},
		"a template":              {"sub", "to={{search.files[0]}}.bak", `'to':'{{search.files[0]}}.bak'`, ""},
		"a template in a name":    {"sub", "to=x-{{search.count}}.md", `'destination':'sub/','to':'x-{{search.count}}.md'`, ""},
		"JSON counts from a root": {"sub", `to:="c.go"`, `'to':'c.go'`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Do(oneline.Do{Args: strings.Fields("search pattern=a path=. then rename files=/home/user/tree/a.go " + test.args)})
			check(t, p, err, want{err: test.err, steps: `{'id':'search','action':'search','params':{'path':'` + test.dir + `','pattern':'a'}},` +
				`{'id':'rename','action':'rename','params':{'files':['a.go'],` + test.want + `}}`})
		})
	}
}

// TestDo_expect: the bounds apply to the last step.
func TestDo_expect(t *testing.T) {
	t.Parallel()
	p, err := here(".").Do(oneline.Do{Args: strings.Fields("search pattern=a then edit old_text=a new_text=b"), Common: oneline.Common{Expect: "..4"}})
	check(t, p, err, want{steps: `{'id':'search','action':'search','params':{'pattern':'a'}},` +
		`{'id':'edit','action':'edit','input_from':'search','expect':{'max_edits':4},'params':{'old_text':'a','new_text':'b'}}`})
}

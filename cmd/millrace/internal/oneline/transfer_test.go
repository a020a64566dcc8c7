package oneline_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

func TestTransfer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir  string
		srcs []string
		dest string
		want
	}{
		"one name":           {".", []string{"a.go"}, "x/c.go", want{steps: `{'id':'move','action':'rename','params':{'files':['a.go'],'to':'x/c.go'}}`}},
		"from below":         {"sub", []string{"a.go"}, "../c.go", want{steps: `{'id':'move','action':'rename','params':{'files':['sub/a.go'],'to':'c.go'}}`}},
		"directory":          {".", []string{"a.go", "b.go"}, "new/", want{steps: `{'id':'move','action':'rename','params':{'files':['a.go','b.go'],'destination':'new/'}}`}},
		"directory there is": {".", []string{"a.go"}, "lib", want{steps: `{'id':'move','action':'rename','params':{'files':['a.go'],'destination':'lib/'}}`}},
		"through a link":     {".", []string{"a.go"}, "link", want{steps: `{'id':'move','action':'rename','params':{'files':['a.go'],'destination':'link/'}}`}},
		"the root":           {"sub", []string{"a.go"}, "..", want{steps: `{'id':'move','action':'rename','params':{'files':['sub/a.go'],'destination':'./'}}`}},
		"a link itself":      {".", []string{"link"}, "l2", want{steps: `{'id':'move','action':'rename','params':{'files':['link'],'to':'l2'}}`}},
		"glob": {".", []string{"*.js"}, "lib/", want{steps: `{'id':'find','action':'list','params':{'depth':1,'include':['*.js']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'destination':'lib/'}}`}},
		"globs": {"sub", []string{"*.js", "x/y/*.{ts,tsx}"}, "../lib", want{steps: `{'id':'find','action':'list','params':{'path':'sub','depth':1,'include':['sub/*.js']}},` +
			`{'id':'find2','action':'list','params':{'path':'sub/x/y','depth':1,'include':['sub/x/y/*.{ts,tsx}']}},` +
			`{'id':'move','action':'rename','input_from_all':['find','find2'],'params':{'destination':'lib/'}}`}},
		"deep": {".", []string{"src/**"}, "lib/", want{steps: `{'id':'find','action':'list','params':{'path':'src','depth':-1,'include':['src/**']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'destination':'lib/','base':'src','preserve_paths':true}}`}},
		"all kinds": {".", []string{"**/*.js", "a.go", "src/*.go"}, "lib/", want{steps: `{'id':'find','action':'list','params':{'path':'src','depth':1,'include':['src/*.go'],'exclude':['a.go{,/}']}},` +
			`{'id':'find2','action':'list','params':{'depth':-1,'include':['**/*.js'],'exclude':['a.go{,/}']}},` +
			`{'id':'move','action':'rename','params':{'files':['a.go'],'destination':'lib/'}},` +
			`{'id':'move2','action':'rename','input_from':'find','params':{'destination':'lib/'}},` +
			`{'id':'move3','action':'rename','input_from':'find2','params':{'destination':'lib/','preserve_paths':true}}`}},
		"parts": {".", []string{"src/*.js"}, "{{dir}}/{{stem}}.ts", want{steps: `{'id':'find','action':'list','params':{'path':'src','depth':1,'include':['src/*.js']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'to':'{{dir}}/{{stem}}.ts'}}`}},
		"parts below": {"sub", []string{"x/*.js"}, "{{dir}}/{{stem}}.ts", want{steps: `{'id':'find','action':'list','params':{'path':'sub/x','depth':1,'include':['sub/x/*.js']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'destination':'sub/','to':'{{dir}}/{{stem}}.ts','base':'sub'}}`}},
		"parts up":         {"sub", []string{"a.go"}, "../old/{{name}}", want{steps: `{'id':'move','action':'rename','params':{'files':['sub/a.go'],'destination':'old/','to':'{{name}}'}}`}},
		"no other part":    {".", []string{"a.go"}, "{{find.files}}", want{err: "unknown part {{find.files}}"}},
		"several to one":   {".", []string{"a.go", "b.go"}, "c", want{err: "write 'c/'"}},
		"glob to one":      {".", []string{"*.go"}, "c", want{err: "write 'c/'"}},
		"no source":        {".", nil, "c", want{err: "SRC… DEST"}},
		"parts of nothing": {".", []string{"a.go"}, "{{stem}}/", want{err: "add {{name}}"}},
		"outside":          {".", []string{"a.go"}, "../x/", want{err: "outside of the tree"}},
		"outside by parts": {".", []string{"a.go"}, "../{{name}}", want{err: "outside of the tree"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Transfer(oneline.Transfer{Sources: test.srcs, Dest: test.dest})
			check(t, p, err, test.want)
			p, err = here(test.dir).Transfer(oneline.Transfer{Sources: test.srcs, Dest: test.dest, Copy: true})
			replaced := strings.NewReplacer("'move", "'copy", "'rename'", "'copy'").Replace(test.steps)
			check(t, p, err, want{replaced, test.err})
		})
	}
}

// TestTransferOfADirectory: a directory is moved as a whole, and is not copied.
func TestTransferOfADirectory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir  string
		srcs []string
		dest string
		want
	}{
		"a new name":           {".", []string{"src"}, "new", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'to':'new'}}`}},
		"with slashes":         {".", []string{"src/"}, "new/", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'to':'new'}}`}},
		"into a directory":     {".", []string{"src"}, "lib", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'destination':'lib/'}}`}},
		"into one with slash":  {".", []string{"src"}, "lib/", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'destination':'lib/'}}`}},
		"up":                   {"sub", []string{"../src"}, "..", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'destination':'./'}}`}},
		"two make a directory": {".", []string{"src", "a.go"}, "new/", want{steps: `{'id':'move','action':'rename','params':{'files':['src','a.go'],'destination':'new/'}}`}},
		"two to a name":        {".", []string{"src", "lib"}, "new", want{err: "write 'new/'"}},
		"by parts":             {".", []string{"src"}, "old-{{name}}", want{steps: `{'id':'move','action':'rename','params':{'files':['src'],'to':'old-{{name}}'}}`}},
		"beside a glob": {".", []string{"src", "**/*.js"}, "lib/", want{steps: `{'id':'find','action':'list','params':{'depth':-1,'include':['**/*.js'],'exclude':['src{,/}']}},` +
			`{'id':'move','action':'rename','params':{'files':['src'],'destination':'lib/'}},` +
			`{'id':'move2','action':'rename','input_from':'find','params':{'destination':'lib/','preserve_paths':true}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Transfer(oneline.Transfer{Sources: test.srcs, Dest: test.dest})
			check(t, p, err, test.want)
			p, err = here(test.dir).Transfer(oneline.Transfer{Sources: test.srcs, Dest: test.dest, Copy: true})
			check(t, p, err, want{err: "is a directory; write '" + strings.TrimSuffix(test.srcs[0], "/") + "/**'"})
		})
	}
}

// TestTransferOfNames: -r and --replace change a part of the names.
func TestTransferOfNames(t *testing.T) {
	t.Parallel()
	regex := func(old, text string, srcs ...string) oneline.Transfer {
		return oneline.Transfer{Regex: true, Old: old, New: text, Sources: srcs}
	}
	replace := func(text string, srcs ...string) oneline.Transfer {
		return oneline.Transfer{Replace: []string{text}, Sources: srcs}
	}
	all := `{'id':'find','action':'list','params':{'depth':-1,'include':['**']}},`
	for name, test := range map[string]struct {
		dir string
		t   oneline.Transfer
		want
	}{
		"all files": {".", regex(`test_(\w+)\.py`, "${1}_test.py"), want{steps: all +
			`{'id':'move','action':'rename','input_from':'find','params':{'pattern':'test_(\\w+)\\.py','replacement':'${1}_test.py'}}`}},
		"from below": {"sub", regex("a", "b"), want{steps: `{'id':'find','action':'list','params':{'path':'sub','depth':-1,'include':['sub/**']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'pattern':'a','replacement':'b','base':'sub'}}`}},
		"from below and beside": {"sub", regex("a", "b", "../src/*.go"), want{steps: `{'id':'find','action':'list','params':{'path':'src','depth':1,'include':['src/*.go']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'pattern':'a','replacement':'b'}}`}},
		"files": {".", regex("a", "b", "a.go", "b.go"), want{steps: `{'id':'move','action':'rename','params':{'files':['a.go','b.go'],'pattern':'a','replacement':'b'}}`}},
		"a directory": {".", replace("a=b", "src"), want{steps: `{'id':'find','action':'list','params':{'path':'src','depth':-1,'include':['src/**']}},` +
			`{'id':'move','action':'rename','input_from':'find','params':{'pattern':'a','replacement':'b'}}`}},
		"text is text":         {".", replace("a.b=c$1\\n=", "a.go"), want{steps: `{'id':'move','action':'rename','params':{'files':['a.go'],'pattern':'a\\.b','replacement':'c$$1\\\\n='}}`}},
		"nothing in its place": {".", replace("a=", "a.go"), want{steps: `{'id':'move','action':'rename','params':{'files':['a.go'],'pattern':'a','replacement':''}}`}},
		"no template":          {".", replace("a={{b}}", "a.go"), want{steps: `{'id':'move','action':'rename','raw':true,'params':{'files':['a.go'],'pattern':'a','replacement':'{{b}}'}}`}},
		"of every depth": {".", regex("a", "b", "**/*.js", "src/*.go"), want{steps: `{'id':'find','action':'list','params':{'depth':-1,'include':['**/*.js']}},` +
			`{'id':'find2','action':'list','params':{'path':'src','depth':1,'include':['src/*.go']}},` +
			`{'id':'move','action':'rename','input_from_all':['find','find2'],'params':{'pattern':'a','replacement':'b'}}`}},
		"no sign":            {".", replace("ab"), want{err: "write --replace OLD=NEW"}},
		"no old":             {".", replace("=b"), want{err: "write --replace OLD=NEW"}},
		"twice":              {".", oneline.Transfer{Replace: []string{"a=b", "c=d"}}, want{err: "given twice"}},
		"both":               {".", oneline.Transfer{Replace: []string{"a=b"}, Regex: true, Old: "a"}, want{err: "exclude each other"}},
		"empty pattern":      {".", regex("", "b"), want{err: "cannot be empty"}},
		"bad pattern":        {".", regex("(", "b"), want{err: "missing closing )"}},
		"bad group":          {".", regex("a", "$1b"), want{err: "write ${1}b"}},
		"-r for a directory": {".", regex("src", "lib"), want{err: "leave -r out to move it"}},
		"-r with a source":   {".", regex("src", "lib", "."), want{steps: all + `{'id':'move','action':'rename','input_from':'find','params':{'pattern':'src','replacement':'lib'}}`}},
		"--no-ignore":        {".", oneline.Transfer{Replace: []string{"a=b"}, Sources: []string{"a.go"}, NoIgnore: true}, want{err: "goes with globs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := here(test.dir).Transfer(test.t)
			check(t, p, err, test.want)
		})
	}
}

// TestTransferToAGlob: a DEST that looks like a glob would become an unwanted name.
func TestTransferToAGlob(t *testing.T) {
	t.Parallel()
	const refused = "is a glob, and DEST is a name"
	for _, test := range []struct {
		src, dest string
		want      string // of the error
	}{
		{"a.go", "*.x", refused}, {"a.go", "b?.go", refused}, {"*.js", "*.ts", refused}, {"*.js", "lib/*/", refused},
		{"*.js", "*{{ext}}", refused}, {"f[12].txt", "g[12].txt", refused}, {"f[12].txt", "[{{stem}}]", refused},
		{"a.go", "[id].go", ""}, {"*.js", "[id]/", ""}, {"*.js", "[{{stem}}]", ""}, {"a.go", "{x}", ""},
	} {
		for _, copies := range []bool{false, true} {
			_, err := here(".").Transfer(oneline.Transfer{Copy: copies, Sources: []string{test.src}, Dest: test.dest})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%s to %s: error %v, want %q", test.src, test.dest, err, test.want)
			}
		}
	}
	w := here(".")
	w.Look = func(name string) oneline.Kind { return oneline.File }
	if _, err := w.Transfer(oneline.Transfer{Sources: []string{"a.go"}, Dest: "odd*"}); err != nil {
		t.Errorf("a file of that name: %v", err)
	}
}

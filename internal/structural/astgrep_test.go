package structural_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fetched"
	"github.com/millrace-go/millrace/internal/fstest"
)

// place is a match: the bytes of a file.
type place struct {
	file     string
	from, to int
}

// beside is a pattern for both programs. If a pattern of ast-grep needs code around it, kind is the part that is
// compared.
type beside struct {
	lang, ours, theirs, kind string
}

// besides are the patterns, in eight languages.
var besides = []beside{
	{"go", "fmt.Errorf(:[a...])", "func t() { fmt.Errorf($$$A) }", "call_expression"},
	{"go", "errors.New(:[a...])", "func t() { errors.New($$$A) }", "call_expression"},
	{"go", "strings.HasPrefix(:[a], :[b])", "func t() { strings.HasPrefix($A, $B) }", "call_expression"},
	{"go", "len(:[a])", "func t() { len($A) }", "call_expression"},
	{"go", "if err != nil { return err }", "if err != nil { return err }", ""},
	{"go", "defer :[m].Unlock()", "defer $M.Unlock()", ""},
	{"go", "append(:[a...])", "func t() { append($$$A) }", "call_expression"},
	{"go", "&http.Request{:[a...]}", "func t() { x := &http.Request{$$$A} }", "unary_expression"},
	{"go", "for range :[a] { :[b...] }", "func t() { for range $A { $$$B } }", "for_statement"},
	{"javascript", "require(:[a])", "require($A)", ""},
	{"javascript", "module.exports = :[a];", "module.exports = $A;", ""},
	{"javascript", "typeof :[a] == 'function'", "typeof $A == 'function'", ""},
	{"javascript", "baseFor(:[a], :[b], :[c])", "baseFor($A, $B, $C)", ""},
	{"javascript", "while (:[c]) { :[b...] }", "while ($C) { $$$B }", ""},
	{"javascript", "var :[[a]] = require(:[b]);", "var $A = require($B);", ""},
	{"python", "isinstance(:[a], :[b])", "isinstance($A, $B)", ""},
	{"python", "os.path.join(:[a...])", "os.path.join($$$A)", ""},
	{"python", "len(:[a])", "len($A)", ""},
	{"python", "raise ValueError(:[a...])", "raise ValueError($$$A)", ""},
	{"python", "self.:[[a]].append(:[b])", "self.$A.append($B)", ""},
	{"python", "assert :[a] == :[b]", "assert $A == $B", ""},
	{"java", "Logger.debug(:[a...])", "Logger.debug($$$A)", ""},
	{"java", "new JSObject()", "new JSObject()", ""},
	{"java", "call.reject(:[a...])", "call.reject($$$A)", ""},
	{"java", "Logger.error(:[a...])", "Logger.error($$$A)", ""},
	{"java", "import com.getcapacitor.:[[a]];", "import com.getcapacitor.$A;", ""},
	{"kotlin", "import com.facebook.react.bridge.:[[a]]", "import com.facebook.react.bridge.$A", ""},
	{"kotlin", "Log.w(:[a...])", "Log.w($$$A)", ""},
	{"tsx", "React.useState(:[a...])", "React.useState($$$A)", ""},
	{"tsx", "import :[a...] from ':[b]';", "import $A from '$B';", ""},
	{"tsx", "StyleSheet.create(:[a])", "StyleSheet.create($A)", ""},
	{"c", "free(:[a])", "void t() { free($A); }", "call_expression"},
	{"c", "fprintf(stderr, :[a...])", "void t() { fprintf(stderr, $$$A); }", "call_expression"},
	{"c", "pthread_create(:[a...])", "void t() { pthread_create($$$A); }", "call_expression"},
	{"css", "display: :[[a]];", "a { display: $A; }", "declaration"},
	{"css", "display: none;", "a { display: none; }", "declaration"},
	{"css", "@media :[a] { :[b...] }", "@media $A { $$$B }", ""},
}

// astGrep returns the program ast-grep.
func astGrep(t *testing.T) string {
	t.Helper()
	if program, err := exec.LookPath("ast-grep"); err == nil {
		return program
	}
	if fstest.Runs(0, 1, 1) == 0 {
		t.Skip("NOT TESTED: ast-grep is not in PATH; MILLRACE_SAMPLES=full fetches it")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("NOT TESTED: ast-grep is not in PATH")
	}
	dir := fetched.NPM(t, "@ast-grep/cli-linux-x64-gnu@0.51.1",
		"sha512-FlaaRLyopXet+zFrWOdlTbyJb+QqZzgV9jxIbgz0FoVsJSaJ6jsenO/6bgYJk4zPOCUODuvoQ1/XFlB4r6BdcQ==")
	program := filepath.Join(dir, "ast-grep")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// corpus returns real code of a language: names of files and their contents.
func corpus(t *testing.T, lang string) (dir string, files map[string][]byte) {
	t.Helper()
	screens := func() string {
		return fetched.NPM(t, "react-native-screens@4.16.0",
			"sha512-yIAyh7F/9uWkOzCi1/2FqvNvK6Wb9Y1+Kzn16SuGfN9YFJDTbwlzGRvePCNTOX0recpLQF3kc2FmvMUhyTCH1Q==")
	}
	ext := "." + lang
	switch lang {
	case "go", "c":
		dir = filepath.Join(fetched.Distribution(t), "src")
		if lang == "go" {
			dir = filepath.Join(dir, "cmd", "go")
		}
	case "javascript":
		dir, ext = fetched.NPM(t, "lodash@4.17.21",
			"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="), ".js"
	case "python":
		dir, ext = fetched.NPM(t, "node-gyp@11.4.2",
			"sha512-3gD+6zsrLQH7DyYOUIutaauuXrcyxeTPyQuZQCQoNPZMHMMS5m4y0xclNpvYzoK3VNzuyxT6eF4mkIL4WSZ1eQ=="), ".py"
	case "java":
		dir = fetched.NPM(t, "@capacitor/android@7.4.4",
			"sha512-y8knfV1JXNrd6XZZLZireGT+EBCN0lvOo+HZ/s7L8LkrPBu4nY5UZn0Wxz4yOezItEII9rqYJSHsS5fMJG9gdw==")
	case "kotlin":
		dir, ext = screens(), ".kt"
	case "tsx":
		dir = screens()
	case "css":
		dir = fetched.NPM(t, "bootstrap@5.3.8",
			"sha512-HP1SZDqaLDPwsNiqRqi5NcP0SSXciX2s9E+RyqJIIqGo+vJeN5AJVM98CXmW/Wux0nQ5L7jeWUdplCEf0Ee+tg==")
	}
	files = make(map[string][]byte)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) != ext || strings.HasSuffix(name, ".min"+ext) ||
			strings.Contains(name, "testdata") {
			return err
		}
		files[name], err = os.ReadFile(name)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Skipf("NOT TESTED: no code of %s was found: %v", lang, err)
	}
	return dir, files
}

// theirs returns the matches of ast-grep that are not inside another.
func theirs(t *testing.T, program, dir string, b beside, files map[string][]byte) map[place]bool {
	t.Helper()
	args := []string{"run", "--json=stream", "-l", b.lang, "-p", b.theirs}
	if b.kind != "" {
		args = append(args, "--selector", b.kind)
	}
	for _, what := range []string{"hidden", "dot", "exclude", "global", "parent", "vcs"} {
		args = append(args, "--no-ignore", what)
	}
	out, err := exec.CommandContext(t.Context(), program, append(args, dir)...).Output()
	if err != nil && len(out) > 0 {
		t.Fatalf("ast-grep %v: %v", args, err)
	}
	var all []place
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m struct {
			File  string
			Range struct {
				ByteOffset struct{ Start, End int }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if _, ok := files[m.File]; ok {
			all = append(all, place{m.File, m.Range.ByteOffset.Start, m.Range.ByteOffset.End})
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	outer := make(map[place]bool)
	var last place
	for _, p := range all {
		if p.file != last.file || p.from >= last.to {
			outer[p], last = true, p
		}
	}
	return outer
}

// TestAgreesWithAstGrep: patterns and ast-grep find the same matches in real code. docs/structural.md names the
// differences.
func TestAgreesWithAstGrep(t *testing.T) {
	t.Parallel()
	program := astGrep(t)
	both, ours, other := 0, 0, 0
	for lang, patterns := range byLanguage() {
		t.Run(lang, func(t *testing.T) {
			dir, files := corpus(t, lang)
			for _, b := range patterns {
				p := parse(t, b.lang, b.ours)
				got := make(map[place]bool)
				for name, data := range files {
					err := p.Find(t.Context(), data, name, func(loc []int) bool {
						got[place{name, loc[0], loc[1]}] = true
						return true
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				want := theirs(t, program, dir, b, files)
				same, more, less := 0, 0, 0
				for p := range got {
					if want[p] {
						same++
						continue
					}
					if more++; more <= 3 {
						t.Logf("only millrace: %s: %.120q", p.file, files[p.file][p.from:p.to])
					}
				}
				for p := range want {
					if !got[p] {
						if less++; less <= 3 {
							t.Logf("only ast-grep: %s: %.120q", p.file, files[p.file][p.from:p.to])
						}
					}
				}
				t.Logf("%s: %s: both %d, only millrace %d, only ast-grep %d", lang, b.ours, same, more, less)
				both, ours, other = both+same, ours+more, other+less
				if same == 0 {
					t.Errorf("%s has no common match", b.ours)
				}
			}
		})
	}
	t.Logf("both find %d, only millrace %d, only ast-grep %d", both, ours, other)
	if (ours+other)*100 > both {
		t.Error("the programs differ in more than one match of a hundred")
	}
}

func byLanguage() map[string][]beside {
	all := make(map[string][]beside)
	for _, b := range besides {
		all[b.lang] = append(all[b.lang], b)
	}
	return all
}

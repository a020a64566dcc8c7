package elsewhere_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/elsewhere"
)

// lines are command lines of other tools, with "|" between their words, and the line of millrace for each, or "".
var lines = []struct{ typed, want string }{
	{"perl|-pi|-e|s/foo/bar/g|a.txt", "replace -r foo bar a.txt"},
	{"perl|-i|-pe|s/(f)oo/$1x/gi|a.txt|b.txt", "replace -r -i '(f)oo' '${1}x' a.txt b.txt"},
	{"perl|-pi|-e|s/foo/bar/|a.txt", "sed --syntax re2 s/foo/bar/ a.txt"},
	{"perl|-pi|-e|s{a}{b}|a.txt", ""},
	{"perl|-0777|-pi|-e|s|a.*b|c|s|a.txt", ""},
	{"perl|-0777|-pi|-e|s,a.*b,c,s|a.txt", "replace -r --max 1 '(?s)a.*b' c a.txt"},
	{"perl|-pi|-e|s/a/f()/e|a.txt", ""},
	{"perl|script.pl", ""},
	{"sd|foo|bar|a.txt", "replace -r foo bar a.txt"},
	{"sd|-p|-F|a.b|c|a.txt", "replace -n a.b c a.txt"},
	{"sd|-f|wi|(a)|$1b", "replace -r -w -i '(a)' '${1}b'"},
	{"sd|foo", ""},
	{"fastmod|-m|foo|bar|src", "replace -r foo bar src -p"},
	{"fastmod|--accept-all|-e|py,js|--fixed-strings|a|b", "replace a b -t py -t js -y"},
	{"codemod|-d|src|--extensions|.py|(a)|\\1b", "replace -r '(a)' '${1}b' src -t py -p"},
	{"comby|f(:[a])|g(:[a])|.py|-i", "replace -s 'f(:[a])' 'g(:[a])' -t py -y"},
	{"comby|-match-only|f(:[a])||main.go", "search -s 'f(:[a])' main.go"},
	{"rg|foo|-r|bar|src", "replace -r foo bar src"},
	{"rg|-F|a.b|-r|c", "replace a.b c"},
	{"rg|-il|-t|py|foo", "search -i -l foo -t py"},
	{"grep|-rlw|--include=*.go|foo|.", `search -r -l '\bfoo\b' . -g '*.go'`},
	{"grep|-rF|--exclude-dir|vendor|-e|-x|src", "search -F -x src -g '!vendor'"},
	{"grep", ""},
	{"rename|s/foo/bar/|a.txt", "mv -r foo bar a.txt"},
	{"rename|-n|s/(a)/$1$1/|a.txt", "mv -n -r '(a)' '${1}${1}' a.txt"},
	{"rename|.htm|.html|*.htm", "mv --replace .htm=.html '*.htm'"},
	{"rename|y/a/b/|a.txt", ""},
	{"rename|a|b", ""},
	{"mmv|*.txt|#1.md", `mv -r '^([^/]*)\.txt$' '${1}.md'`},
	{"mmv|-n|a?|b#1", "mv -n -r '^a([^/])$' 'b${1}'"},
	{"mmv|[ab]|c", ""},
	{"find|.|-name|*.txt|-exec|sed|-i|s/a/b/|{}|+", "sed s/a/b/ '**/*.txt'"},
	{"find|src|-type|f|-name|*.py|-exec|perl|-pi|-e|s/a/b/g|{}|;", "replace -r a b 'src/**/*.py'"},
	{"find|src|-name|*.orig|-delete", "rm 'src/**/*.orig'"},
	{"find|-name|*.go|-exec|rm|{}|;", "rm '**/*.go'"},
	{"find|-name|*.go|-exec|sd|a|b|{}|;", "replace -r a b -g '**/*.go'"},
	{"find|-name|*.go|-exec|grep|-l|a|{}|;", "search -l a -g '**/*.go'"},
	{"find|-name|*.go|-exec|cat|{}|;", ""},
	{"find|-name|*.go", "do list depth=-1 'include=**/*.go'"},
	{"find|-mtime|1", ""},
	{"find|-type|d", ""},
	{"fd|-e|py|-x|sed|-i|s/a/b/", "sed s/a/b/ '**/*.py'"},
	{"fd|py", ""},
	{"git|apply|p.diff", "patch p.diff"},
	{"git|apply|-R|--check|-p0|--directory=sub|p.diff", "patch -R -n --in sub --strip 0 p.diff"},
	{"git|mv|a|b", "mv a b"},
	{"git|grep|-l|a", "search -l a"},
	{"git|checkout|--|a", "undo"},
	{"git|push", ""},
	{"git", ""},
	{"patch|-p1|p.diff", "patch --strip 1 p.diff"},
	{"patch|-p0|-i|p.diff|-y", "patch --strip 0 -y p.diff"},
	{"patch|-d|sub|-R|--dry-run|p.diff", "patch --in sub -R -n p.diff"},
	{"patch|p.diff", ""},
	{"patch|-p|p.diff", ""},
	{"tr|ab|cd", "sed y/ab/cd/ -"},
	{"tr|a-z|A-Z", ""},
	{"s/a b/c/|a.txt", "sed 's/a b/c/' a.txt"},
	{"ls|-l|src", "do list path=src"},
	{"cat|a.txt", "do read_ranges files=a.txt"},
	{"cat", ""},
	{"touch|it's", `do create 'paths=it'\''s' content=`},
	{"touch", ""},
	{"edit|a.txt", "do edit files=a.txt old_text=OLD new_text=NEW"},
	{"history", "log"},
	{"move|a|b", "mv a b"},
	{"nothing", ""},
	{"", ""},
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, test := range lines {
		var words []string
		if test.typed != "" {
			words = strings.Split(test.typed, "|")
		}
		line, ok := elsewhere.Command(words)
		if want := strings.TrimSpace("millrace " + test.want); ok != (test.want != "") || ok && line != want {
			t.Errorf("%s: %q %v, want %q", test.typed, line, ok, test.want)
		}
	}
}

func TestIsScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"s/a/b/": true, "s|a|b|g": true, `s/a\/b/c/`: true, `s/a\.b/c/;`: true,
		"s/a/b": false, "s//b/": false, "src/a/b": false, "y/a/b/": false, "s/a/b/%": false, "s": false,
	} {
		if got := elsewhere.IsScript(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

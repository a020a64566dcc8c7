package ignore_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// The paths for every rule set of the table.
var commonPaths = []string{
	"a", "b", "c", "ab", "abc", "foo", "foobar", "bar", "baz", "FOO", "foo.c", "foo.o", "foo.tar.gz", ".foo", ".o", "foo.",
	"foo~", "#foo", "!foo", "foo ", "foo  ", " foo", "foo\t", "foo\r", `foo\`, `\foo`, "*", "**", "*.c", "?", "[a]", "[", "]",
	"-", "^", "a-c", "é", "\xff", "\xef\xbb\xbffoo", "x\ny",
	"d/", "d/a", "d/foo", "d/foo.c", "d/e/", "d/e/f/", "d/e/f/foo", "d/e/f/foo.o", "d/e/f/g/foo.c", "d/bar/", "d/bar/foo",
	"foo.d/", "foo.d/a", "foox/y/bar", "foo/bar-not-there", "a/b/c-deep",
	"doc/", "doc/frotz/", "doc/frotz/x", "frotz/", "frotz/x", "x/doc/frotz/y", "x/frotz/z",
	"build/", "build/out/keep", "build/out/keep.c", "build/keep", "src/build/", "src/build/x.o", "src/build.c",
	"node_modules/", "node_modules/x/package.json", "pkg/node_modules/x/y.js", "log/debug.log", "debug.log", "a/debug0.log",
	"Desktop.ini", "thumbs.db", "0", "5", "9x", "x9", "aa", "aaa", "aaaab", "a.b.c", "a/x/b", "a/b", "a/x/y/b",
}

// Rule sets of one file that some tool gets wrong, or may get wrong.
var tricky = []string{
	// Blank lines, comments, line endings, marks.
	"", "\n\n", "#foo", `\#foo`, " #foo", "#", "##\nfoo", "foo #bar", "foo\r\n", "foo\r\nbar\r\n", "foo\r\r\n", "foo\r", "\r\n", "foo\r\nd/\r\n",
	"\xef\xbb\xbffoo", "\xef\xbb\xbf#foo\nbar", "\xef\xbb\xbf\xef\xbb\xbffoo", "bar\n\xef\xbb\xbffoo", "\xef\xbb\xbf", "foo\x00bar", "foo\x00\nbar", "\x00foo", "#\x00\nfoo",
	"foo", "foo\n", "\n\nfoo\n\n", "x\\\ny",
	// Trailing and leading spaces.
	"foo ", "foo  ", `foo\ `, `foo\  `, `foo \ `, "foo\t", "foo \t", "foo\t ", " foo", `\ foo`, `foo\\ `, `foo\`, `foo \`, `foo\ \`, "   ", `\ `, "foo /", "d/ ", "foo \r\n", "foo\\ \r\n",
	// Negation.
	"foo\n!foo", "!foo\nfoo", "!foo", "!!foo", `\!foo`, "*\n!foo", "*\n!d/\n!d/foo", "*\n!*/\n!*.c", "/*\n!/d\n/d/*\n!/d/e", "d/\n!d/foo", "d/*\n!d/foo", "d/**\n!d/e/\n!d/e/**", "!", "!/", "! foo",
	"*.c\n!foo.c\nfoo.*", "foo*\n!foo.c", "build\n!build/out/keep", "**\n!**/\n!*.c", "*\n!build\n!build/out\n!build/out/keep*", "!*\nfoo", "foo\n!FOO",
	// Directories.
	"d/", "/d/", "foo/", "d//", "//", "/", "//d", "d/e/", "d/e", "/d/e", "e/", "e", "*/", "/*/", "**/", "build/", "/build/", "src/build", "frotz/", "/frotz/", "doc/frotz/", "doc/frotz", "/doc/frotz", "node_modules", "node_modules/", "d/.", "./d", "./foo", "../d", "d/./e", "d/../d", "d/e//f",
	// Anchors.
	"/foo", "/foo.c", "/*.c", "/*", "//foo", "d/foo", "/d/foo", "d/*.c", "/d/*", "d/*/foo", "*/foo", "/*/foo", "*/*/foo", "a/*/b", "a/*", "*/b", "*/*", "/a", `/\foo`, `\/foo`, `d\/foo`, `/d\/foo`, `d\/`, `foo\/`,
	// Single stars and question marks.
	"*", "*.o", "*.c", "foo*", "*foo", "*foo*", "f*o", "f*", "*o", "*~", "*.", ".*", "*.*", "*.tar.gz", "*.gz", "?", "??", "fo?", "?oo", "f?o.c", "d?foo", "d/?oo", "*?", "?*", "??*", "*a*b", "a*a*b", "*.?", `\*`, `\?`, `\**`, `*\*`, `\*\*`, `\*.c`, `f\oo`, `\f\o\o`, `\foo`, `\\foo`, `foo\\`, `*\`, `*\\`, "deb*.log", "debug[0-9].log", "debug?.log", "*[0-9]*",
	// Double stars.
	"**", "***", "/**", "**/foo", "***/foo", "/**/foo", "**/d/foo", "**/foo.c", "**/*.c", "**/*", "/**/*", "d/**", "/d/**", "d/**/", "/d/**/foo", "d/**/foo", "d/**/foo.c", "a/**/b", "a/**b", "a**/b", "a**b", "**foo", "foo**", "foo**bar", "foo**/bar", "/foo**/bar", "d**/foo", "d/e**/foo", "d/**foo", "d/**e/foo", "d/***/foo", "**/**/foo", "**/**", "d/**/**/foo", "**/e/**", "**/e/**/foo", "**/e/**/*.c", "**/foo/", "**/bar/**", "**/.", `**\/foo`, `d/**\/foo`, `d/**\/e`, `d/**\//f`, `\**/foo`, `**/\foo`, "a/**/", "**/a/**/b", "*/**/foo", "**/*/foo", "**/f*o", "**/[f]oo", "**/debug*.log", "log/**/debug.log", "**/log/debug.log", "**/d", "**/d/", "**/e/f", "?**/foo", "d/?**", "d/**?", "**/?", "**a", "**/a/", "foo**", "/foo**", "foo.**", "**.c", "d/**.c", "/**.c", "**/e*/**/foo*",
	// Classes.
	"[a]", "[abc]", "[a-c]", "[!a]", "[^a]", "[!a-c]", "[a-]", "[-a]", "[]]", "[]a]", "[!]]", "[!]a]", "[^]]", "[[]", "[]-a]", "[a", "[", "[]", "[!", "[!]", "[^", "[]a", "foo[", "[a-c", "[a-", `[\]]`, `[\a]`, `[a\]`, `[\`, `[a-\c]`, `[a\-c]`, `[\a-c]`, `[a-c-e]`, "[c-a]", "[a-a]", "[--0]", "[!-]", "[*]", "[?]", "[*?]*", "[[]a]", "[a]]", `\[a]`, `\[a\]`, "[#]foo", "[!]foo", "[[!]foo", "[ ]foo", "foo[ ]", "foo[ ", "[f]oo", "fo[o]", "[f][o][o]", "f[!x]o", "*.[co]", "*.[!c]", "*[.]c", "d[/]foo", "d[!x]foo", "d[^x]foo", "d[.-0]foo", "d/[f]oo", "[d]/foo", "[d/]foo", "[d/]/foo", "/[d]/foo", "*/[f]oo", "**/[!f]oo", "foo[.]*", "[\xff]", "[\x80-\xff]", "[é]", "[!é]", "é", "?é", "??", "[\x01-\x7f]",
	"[[:digit:]]", "[[:digit:]x]*", "[![:digit:]]", "[^[:digit:]]", "[[:alpha:]]", "[[:upper:]]*", "[[:lower:]]*", "[[:space:]]foo", "foo[[:space:]]", "foo[[:blank:]]", "[[:punct:]]*", "[[:alnum:]]", "[[:xdigit:]]", "[[:graph:]]", "[[:print:]]", "[[:cntrl:]]", "x[[:cntrl:]]y", "[[:word:]]", "[[:DIGIT:]]", "[[:digit:]", "[[:digit]]", "[[:digit", "[:digit:]", "[[:]", "[[::]]", "[[:]]", "[[:a]", "[[:digit:]-z]", "[a-[:digit:]]", "[a-[:digit:]", "[[:digit:][:alpha:]]", "[[.a.]]", "[[=a=]]", "[[:digit:]a-c]", "x[[:digit:]]", "[[:digit:]]x", "[[:upper:][:digit:]]*", `[\[:digit:]]`, "[[\\:digit:]]",
	// Combinations.
	"*.log\n!debug.log\nlog/", "foo\nfoo/\n!foo", "d/\n!d/", "d\n!d/", "foo/\n!foo", "/foo\n!/foo/\nfoo*", "*.o\n*.c\n!*.c\n*.c", "foo\nbar\nbaz\nfoo", "*\n!.gitignore", "/*\n!/src\n/src/*\n!/src/build", "**/foo\n!d/**/foo", "*.[oa]\n!*.o", "*~\n.*\n!.foo", "build/\n!build/", "build/*\n!build/keep", "foo*\n!foo.?\nfoo.c",
}

// Rule sets of two files: the second is in the directory d.
var nested = [][2]string{
	{"foo", "!foo"}, {"!foo", "foo"}, {"*.c", "!foo.c"}, {"d/foo", "!foo"}, {"d/foo", "!/foo"}, {"/d/foo", "!e"}, {"d/", "!foo"}, {"d/e/", "!e/"},
	{"d/e", "!e/"}, {"d/*", "!foo"}, {"d/**", "!foo\n!e/"}, {"*", "!*"}, {"*\n!d", "!foo"}, {"*\n!d/", "!e/f"}, {"foo", "/foo"}, {"", "/e/f"}, {"", "e/f"}, {"", "e/**"},
	{"", "d/foo"}, {"", "/d"}, {"", "f/"}, {"", "**/foo"}, {"", "/**/foo"}, {"", "**/f/foo"}, {"", "*/foo"}, {"", "*/f/foo"}, {"!d/foo.c", "*.c"}, {"!*.c", "foo*"}, {"foo*", "!foo.c\nfoo.c"},
	{"**/f", "!f"}, {"**/f/", "!f/"}, {"e/f", "!e"}, {"/e", ""}, {"", "\xef\xbb\xbffoo\r\n"}, {"", "."}, {"", ".."}, {"", "../d/foo"}, {"d/bar", "!bar/\nbar/*\n!bar/foo"},
}

func TestTableAgainstGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	var r repo
	for i, rules := range tricky {
		r.add(fmt.Sprintf("s%d", i), rules, commonPaths...)
	}
	for i, pair := range nested {
		dir := fmt.Sprintf("n%d", i)
		r.add(dir, pair[0], commonPaths...)
		r.add(path.Join(dir, "d"), pair[1])
	}
	if n := len(tricky) + len(nested); n < 300 {
		t.Fatalf("only %d rule sets", n)
	}
	matched := r.compare(t)
	t.Logf("%d rule sets, %d paths, %d matched", len(r.rules), len(r.paths), matched)
	if matched*20 < len(r.paths) {
		t.Errorf("only %d of %d paths match anything: the table tests little", matched, len(r.paths))
	}
}

// Rules at the very top have no directory above them, which is a special case.
func TestTopAgainstGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	for i, rules := range []string{
		"foo\n/d/e\n*.c\n!d/foo.c\n**/bar\nbuild/\n", "/*\n!/d/\n!/src\n", "d/**/foo\nfoo**/bar\n[[:digit:]]\n", "\xef\xbb\xbf/foo\r\n*/foo\r\n",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			var r repo
			r.add(".", rules, commonPaths...)
			r.add("d", "!foo.o\n/e/f/*.o\n")
			r.compare(t)
		})
	}
}

// Every byte that is valid in a name against every named class.
func TestClassesAgainstGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	var names []string
	for b := 1; b < 256; b++ {
		if b != '/' {
			names = append(names, "x"+string([]byte{byte(b)}))
		}
	}
	var r repo
	for i, class := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit") {
		r.add(fmt.Sprintf("c%d", 2*i), "x[[:"+class+":]]", names...)
		r.add(fmt.Sprintf("c%d", 2*i+1), "/x[^[:"+class+":]a-f]", names...)
	}
	r.compare(t)
}

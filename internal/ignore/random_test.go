package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// generator makes rules and paths from few letters, so that they match often.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) name() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("a", "b", "c", "ab", ".", "-", "A", "1", "a", "b", "c", "ab", "a", "b", "c", "1", g.pick(" ", "]", "[", "!", "#", `\`, "\r", "\t", "é", "\xff", "^", "*", "+")))
	}
	if name := b.String(); name != "." && name != ".." {
		return name
	}
	return "a"
}

func (g generator) atom() string {
	switch g.IntN(16) {
	case 0, 1, 2:
		return g.pick("*", "**", "***", "*", "*")
	case 3:
		return "?"
	case 4:
		return g.pick("[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[[:digit:]1]", "[a", "[/a]", "[!.]", `[\a]`, "[--a]", "[[:foo:]]")
	case 5:
		return g.pick(`\`, `\a`, `\*`, `\/`, " ", `\ `, "\t", "!", "#", "\r", "\xef\xbb\xbf", "\xff", "é", `\\`, `\!`, `\#`, `\[`)
	case 6:
		return g.class()
	default:
		return g.pick("a", "b", "c", "ab", ".", "-", "A", "1")
	}
}

// class makes a character class, which may be unclosed or meaningless.
func (g generator) class() string {
	var b strings.Builder
	b.WriteString(g.pick("[", "[", "[!", "[^"))
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("a", "b", "A", "-", "]", "[", "!", "^", ".", "/", `\`, `\]`, `\-`, " ", "\xff", "a-c", "A-c", "c-a", "+-/", ".-", "-a", `\a-c`, `a-\c`))
		if g.IntN(3) == 0 {
			b.WriteString(g.pick("[:alnum:]", "[:alpha:]", "[:blank:]", "[:cntrl:]", "[:digit:]", "[:graph:]", "[:lower:]", "[:print:]", "[:punct:]", "[:space:]",
				"[:upper:]", "[:xdigit:]", "[:word:]", "[:", "[:a", "[:]", "[:alpha", "[:alpha:", "[.a.]", "[=a=]", "[:ALPHA:]"))
		}
	}
	b.WriteString(g.pick("]", "]", "]", "]", ""))
	return b.String()
}

func (g generator) rule() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "", "!", "!", "#", `\!`, " "))
	b.WriteString(g.pick("", "", "", "/", "**/", "/**/", "*/"))
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(g.pick("/", "/", "/**/", "**/", "/**", "//"))
		}
		for range 1 + g.IntN(3) {
			b.WriteString(g.atom())
		}
	}
	b.WriteString(g.pick("", "", "", "/", "/**", "/*", " ", "//", "", "/", "\t", `\ `, `\  `, "  ", "/ ", "\r", " \r"))
	return b.String()
}

func (g generator) rules() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "", "", "\xef\xbb\xbf"))
	for range 1 + g.IntN(6) {
		b.WriteString(g.rule() + g.pick("\n", "\n", "\n", "\r\n", "\n\n"))
	}
	b.WriteString(g.pick("", g.rule()))
	return b.String()
}

// tree returns the directories and the paths of a small tree. No name is both a file and a directory.
func (g generator) tree(dir string, depth int, into *[]string) {
	used := map[string]bool{}
	for range 2 + g.IntN(3) {
		name := g.name()
		if used[name] {
			continue
		}
		used[name] = true
		p := path.Join(dir, name)
		if depth > 0 && g.IntN(2) == 0 {
			*into = append(*into, p+"/")
			g.tree(p, depth-1, into)
		} else {
			*into = append(*into, p)
		}
	}
}

func TestRandomAgainstGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	seed := fstest.Seed(t)
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	const atOnce = 1000 // trees in one repository
	sets, files, paths := fstest.Runs(200, 600, 30_000), 0, 0
	for first := 0; first < sets && !t.Failed(); first += atOnce {
		r := g.repo(min(atOnce, sets-first))
		matched := r.compare(t)
		if matched*15 < len(r.paths) {
			t.Errorf("only %d of %d paths match anything", matched, len(r.paths))
		}
		files += len(r.rules)
		paths += len(r.paths)
	}
	fstest.Countf(t, "%d random sets of rules in %d files, %d paths compared with git check-ignore", sets, files, paths)
}

// repo makes a repository with a number of trees, each with rules at its top and often below.
func (g generator) repo(trees int) *repo {
	r := &repo{}
	for i := range trees {
		dir := fmt.Sprintf("s%d", i)
		var paths []string
		g.tree(".", 2, &paths)
		r.add(dir, g.rules(), paths...)
		for _, p := range paths {
			if strings.HasSuffix(p, "/") && g.IntN(3) == 0 {
				r.add(path.Join(dir, p), g.rules())
			}
		}
	}
	return r
}

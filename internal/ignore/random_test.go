package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// generator makes rules and paths out of few letters, so that they meet often.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) name() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("a", "b", "c", "ab", ".", "-", "A", "1"))
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
		return g.pick(`\`, `\a`, `\*`, `\/`, " ", `\ `, "\t", "!", "#")
	default:
		return g.pick("a", "b", "c", "ab", ".", "-", "A", "1")
	}
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
	b.WriteString(g.pick("", "", "", "/", "/**", "/*", " ", "//"))
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
	sets := 1500
	if testing.Short() {
		sets = 300
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	var r repo
	for i := range sets {
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
	matched := r.compare(t)
	t.Logf("%d files of rules, %d paths, %d matched", len(r.rules), len(r.paths), matched)
	if matched*10 < len(r.paths) {
		t.Errorf("only %d of %d paths match anything", matched, len(r.paths))
	}
}

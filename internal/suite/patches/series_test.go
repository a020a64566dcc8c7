package patches_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// history is the trees of a line of commits.
type history []tree

// randomHistory returns up to five commits over a few files, which change, move, are copied, and become directories and
// links.
func randomHistory(r *rand.Rand) history {
	first := tree{}
	for _, name := range []string{"a", "b/c", "b/d e", "l", "bin"}[:1+r.IntN(5)] {
		first[name] = randomEntry(r, name)
	}
	h := history{first}
	for range 1 + r.IntN(5) {
		h = append(h, nextTree(r, h[len(h)-1]))
	}
	return h
}

func randomEntry(r *rand.Rand, name string) entry {
	e := entry{Text: strings.Join(randomLines(r, 25), ""), Exec: chance(r, 6)}
	switch {
	case name == "l" || chance(r, 12):
		return entry{Text: pick(r, "a", "b", "b/c", "nowhere"), Link: true}
	case name == "bin":
		e.Text = "\x00" + e.Text
	case chance(r, 4): // equal blocks that differ only in place
		e.Text = strings.Repeat(strings.Join(randomLines(r, 4), "")+"{\nroot\n}\n", 2+r.IntN(5))
	}
	return e
}

// nextTree returns the tree of the next commit.
func nextTree(r *rand.Rand, old tree) tree {
	now := maps.Clone(old)
	for range 1 + r.IntN(3) {
		names := now.names()
		if len(names) == 0 {
			names = []string{"a"}
		}
		name, other := pick(r, names...), pick(r, names...)
		e := now[name]
		switch r.IntN(14) {
		case 0, 1, 2, 3, 4:
			if !e.Link {
				now[name] = edited(r, e)
			}
		case 5:
			e.Exec = !e.Exec && !e.Link
			now[name] = e
		case 6:
			delete(now, name)
		case 7:
			now.put(pick(r, "a", "new", "b/new", "n/m/o"), randomEntry(r, ""))
		case 8: // a new name, perhaps with other text
			delete(now, name)
			if chance(r, 2) && !e.Link {
				e = edited(r, e)
			}
			now.put(pick(r, "moved", "b/moved", "m/a", "a"), e)
		case 9:
			now.put(pick(r, "copy", "b/copy", "c/c"), e)
			if _, stays := now[name]; stays && chance(r, 2) && !e.Link {
				now[name] = edited(r, e)
			}
		case 10:
			now[name], now[other] = now[other], now[name]
		case 11: // the file becomes a directory
			delete(now, name)
			now.put(name+"/"+pick(r, "x", "y/z"), e)
		case 12: // the directory becomes a file
			if dir := path.Dir(name); dir != "." {
				now.put(dir, e)
			}
		case 13:
			now.put(name, randomEntry(r, pick(r, "l", "a")))
		}
	}
	return now
}

// put puts a file at a path, and removes the files in its way.
func (files tree) put(name string, e entry) {
	for other := range files {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			delete(files, other)
		}
	}
	files[name] = e
}

func edited(r *rand.Rand, e entry) entry {
	e.Text = strings.Join(changed(r, strings.SplitAfter(strings.TrimSuffix(e.Text, "\n")+"\n", "\n"), 1+r.IntN(3)), "")
	return e
}

// stream writes histories as git fast-import reads them, the first commit of each as the tag bN and the last as the branch hN.
func stream(all []history) string {
	var b strings.Builder
	for n, h := range all {
		fmt.Fprintf(&b, "reset refs/heads/h%d\n", n)
		for i, files := range h {
			fmt.Fprintf(&b, "commit refs/heads/h%d\ncommitter a <a> %d +0000\ndata 2\nm\n", n, 1_000_000_000+1000*i)
			b.WriteString("deleteall\n")
			for _, name := range files.names() {
				e := files[name]
				mode := "100644"
				switch {
				case e.Link:
					mode = "120000"
				case e.Exec:
					mode = "100755"
				}
				fmt.Fprintf(&b, "M %s inline %q\ndata %d\n%s\n", mode, name, len(e.Text), e.Text)
			}
			if i == 0 {
				fmt.Fprintf(&b, "reset refs/tags/b%d\nfrom refs/heads/h%d\n\n", n, n)
			}
		}
	}
	return b.String()
}

// ways returns the commands by which git writes a series of commits.
func ways(r *rand.Rand) []string {
	var args []string
	switch r.IntN(4) {
	case 0:
		args = append(args, "-c", "diff.noprefix=true")
	case 1:
		args = append(args, "-c", "diff.mnemonicPrefix=true")
	}
	args = append(args, pick(r, [][]string{{"format-patch", "--stdout"}, {"log", "-p", "--reverse"}, {"log", "-p"}}...)...)
	args = append(args, "--binary", fmt.Sprintf("-U%d", r.IntN(4)))
	args = append(args, pick(r, "-M", "-M30", "-C", "-C30", "--no-renames"))
	if chance(r, 2) {
		args = append(args, "--full-index")
	}
	return args
}

// TestSeriesByGit: a series of commits, written by git as mails or as a log, gives the tree of the last commit.
func TestSeriesByGit(t *testing.T) {
	t.Parallel()
	needTools(t, "git")
	r := rand.New(rand.NewPCG(fstest.Seed(t), 6))
	samples, bytes, commits := fstest.Runs(40, 5000, 50_000), 0, 0
	const batch = 100
	for done := 0; done < samples; done += batch {
		all := make([]history, min(batch, samples-done))
		for i := range all {
			all[i] = randomHistory(r)
			commits += len(all[i]) - 1
		}
		dir := t.TempDir()
		for _, args := range [][]string{{"init", "-q", "--bare"}, {"fast-import", "--quiet"}} {
			if ok, out := run(t, dir, stream(all), "git", args...); !ok {
				t.Fatalf("git %q: %s", args, out)
			}
		}
		for i, h := range all {
			args := append(ways(r), fmt.Sprintf("b%d..h%d", i, i))
			ok, patch := run(t, dir, "", "git", args...)
			if !ok {
				t.Fatalf("git %q: %s", args, patch)
			}
			bytes += len(patch)
			if !strings.Contains(patch, "diff --git") {
				continue
			}
			got, err := inRoot(t, h[0], actions.Patch{Text: patch})
			if err != nil {
				t.Fatalf("run %d, git %q: %v\n%v\n%s", done+i, args, err, h[0], patch)
			}
			if d := cmp.Diff(h[len(h)-1], got); d != "" {
				t.Fatalf("run %d, git %q (-want +got): %s\n%v\n%s", done+i, args, d, h[0], patch)
			}
		}
	}
	fstest.Countf(t, "%d series of %d commits that git has written, %d bytes", samples, commits, bytes)
}

//go:build unix

package scratch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/scratch"
)

// told returns the changes that a script leaves: each as a word and its paths.
func told(t *testing.T, changes []scratch.Change) []string {
	t.Helper()
	var list []string
	for _, c := range changes {
		word := "keep"
		switch {
		case c.Kind == change.Absent:
			word = "remove"
		case c.Written:
			word = fmt.Sprintf("write %d", c.Size)
		}
		line := fmt.Sprintf("%s %s %s", word, c.Kind, c.Path)
		if c.Kind == change.Absent {
			line = word + " " + c.Path
		}
		if c.From != "" {
			line += " from " + c.From
		}
		if c.Kind == change.File || c.Kind == change.Dir {
			line += fmt.Sprintf(" %o", c.Mode)
		}
		list = append(list, line)
	}
	return list
}

func TestTree_Collect(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "one\n", "b.txt": "two\n", "d/e.txt": "three\n", "d/f/g.txt": "four\n", "h/.gitignore": "*.o\n", "h/i.o": "five\n",
		"h/j.txt": "six\n",
	}
	for name, c := range map[string]struct {
		script string
		o      scratch.Options
		want   []string
		warn   string
		fails  error
		says   string
	}{
		"nothing":             {script: "cat a.txt"},
		"touch":               {script: "touch a.txt d/e.txt; cp a.txt x; mv x a.txt"},
		"edit":                {script: "echo more >> a.txt", want: []string{"write 9 file a.txt 644"}},
		"same size, old time": {script: "cp -p a.txt /tmp/$$; printf 'ONE\\n' > a.txt; touch -r /tmp/$$ a.txt; rm /tmp/$$", want: []string{"write 4 file a.txt 644"}},
		"swap":                {script: "mv a.txt x; mv b.txt a.txt; mv x b.txt", want: []string{"keep file a.txt from b.txt 644", "keep file b.txt from a.txt 644"}},
		"swap directories": {
			script: "mv d x; mv h d; mv x h", want: []string{"keep dir d from h 755", "keep dir h from d 755"},
		},
		"chain":                          {script: "rm b.txt; mv a.txt b.txt; mv d/e.txt a.txt", want: []string{"keep file a.txt from d/e.txt 644", "remove b.txt", "keep file b.txt from a.txt 644"}},
		"a directory with ignored files": {script: "mv h z", want: []string{"keep dir z from h 755"}},
		"rename, edit":                   {script: "mv a.txt z.txt; echo more >> z.txt", want: []string{"write 9 file z.txt from a.txt 644"}},
		"rename a directory, edit in it": {
			script: "mv d z; echo more >> z/f/g.txt; rm z/e.txt; echo new > z/n",
			want:   []string{"remove d/e.txt", "keep dir z from d 755", "write 10 file z/f/g.txt 644", "write 4 file z/n 644"},
		},
		"a directory out of a renamed directory": {
			script: "mv d/f f; mv d z", want: []string{"keep dir f from d/f 755", "keep dir z from d 755"},
		},
		"out of a removed directory, in a renamed directory": {
			script: "mv d/f/g.txt g; rmdir d/f; mv d z", want: []string{"remove d/f", "keep file g from d/f/g.txt 644", "keep dir z from d 755"},
		},
		"a link becomes a directory": {
			script: "ln -s d l; ln -s m m", want: []string{"keep symlink l", "keep symlink m"},
		},
		"a directory turned inside out": {
			script: "mv d/f x; mv d x/d; mv x d", want: []string{"keep dir d from d/f 755", "keep dir d/d from d 755"},
		},
		"file becomes directory": {
			script: "rm a.txt; mkdir a.txt; echo x > a.txt/x", want: []string{"keep dir a.txt 755", "write 2 file a.txt/x 644"},
		},
		"file into a directory of its name": {
			script: "mv a.txt x; mkdir a.txt; mv x a.txt/a.txt", want: []string{"keep dir a.txt 755", "keep file a.txt/a.txt from a.txt 644"},
		},
		"directory becomes file": {
			script: "rm -r d; echo x > d", want: []string{"write 2 file d 644", "remove d/e.txt", "remove d/f", "remove d/f/g.txt"},
		},
		"removed directory": {script: "rm -r d", want: []string{"remove d", "remove d/e.txt", "remove d/f", "remove d/f/g.txt"}},
		"an inode again":    {script: "rm a.txt; echo other > z.txt", want: []string{"remove a.txt", "write 6 file z.txt 644"}},
		"modes": {
			script: "chmod 755 a.txt; chmod 700 d; chmod u+s b.txt", want: []string{"keep file a.txt 755", "keep dir d 700"},
			warn: "1 files or directories have the setuid or setgid bit in the tree of the command, which is left out: b.txt",
		},
		"no mode at all": {script: "chmod 0 a.txt; echo x >> b.txt; chmod 0 b.txt", want: []string{"keep file a.txt 0", "write 6 file b.txt 0"}},
		"links": {
			script: "ln -s d/e.txt l; ln -s nowhere m; ln -s .. d/n", want: []string{"keep symlink d/n", "keep symlink l", "keep symlink m"},
		},
		"empty directories": {script: "mkdir -p x/y", want: []string{"keep dir x 755", "keep dir x/y 755"}},
		"two names": {
			script: "ln a.txt z.txt", want: []string{"write 4 file z.txt 644"},
			warn: "1 files have several names in the tree of the command, each of them became a file of its own: z.txt",
		},
		"two names, edited": {
			script: "ln a.txt z.txt; echo >> z.txt", want: []string{"write 5 file a.txt 644", "write 5 file z.txt 644"},
			warn: "2 files have several names in the tree of the command, each of them became a file of its own: a.txt, z.txt",
		},
		"pipe": {
			script: "mkfifo p; rm a.txt; mkfifo a.txt", want: []string{"remove a.txt"},
			warn: "2 sockets, pipes or devices of the command are left out: a.txt, p",
		},
		"ignored": {
			script: "echo x > h/x.o; echo y > h/i.o; echo z > h/z.txt", want: []string{"write 2 file h/z.txt 644"},
		},
		"ignored, all staged": {
			script: "echo x > h/x.o; echo y > h/i.o", o: scratch.Options{NoIgnore: true},
			want: []string{"write 2 file h/i.o 644", "write 2 file h/x.o 644"},
		},
		"ignored with its directory": {
			script: "rm -r h", want: []string{"remove h", "remove h/.gitignore", "remove h/i.o", "remove h/j.txt"},
		},
		"a directory in place of a directory with ignored files": {
			script: "echo '*.o' > .gitignore; rm -r h; mv d h; mkdir h/sub", want: []string{
				"write 4 file .gitignore 644", "remove h", "keep dir h from d 755", "remove h/.gitignore", "remove h/j.txt", "keep dir h/sub 755",
			},
		},
		"rules of then": {
			script: "echo '*.txt' > h/.gitignore; rm h/j.txt; echo y > h/i.o", want: []string{"write 6 file h/.gitignore 644", "write 2 file h/i.o 644"},
		},
		"version control": {script: "mkdir -p .git/objects d/.hg; echo x > .git/config; echo x > d/.hg/x; echo gitdir: x > h/.git"},
		"kept backup": {
			script: "mv a.txt a.txt~; echo new > a.txt", want: []string{"write 4 file a.txt 644", "write 4 file a.txt~ 644"},
		},
		"not staged": {
			script: "for i in 1 2 3 4 5 6; do echo x > d/n$i; done; mv a.txt q; echo x > src.go; mkdir -p gen/x; echo x > gen/x/y.go; mkdir gen/empty",
			o:      scratch.Options{Bring: func(name string) bool { return strings.HasSuffix(name, ".go") }},
			want:   []string{"keep dir gen 755", "keep dir gen/x 755", "write 2 file gen/x/y.go 644", "write 2 file src.go 644"},
			warn:   "8 changes of the command are left out, for writes does not take them: a.txt, d/n1, d/n2, d/n3, d/n4, ...",
		},
		"renamed to a path that is staged": {
			script: "mv a.txt a.go", o: scratch.Options{Bring: func(name string) bool { return strings.HasSuffix(name, ".go") }},
			want: []string{"write 4 file a.go 644"},
			warn: "1 changes of the command are left out, for writes does not take them: a.txt",
		},
		"a directory that is staged in part": {
			script: "mv d z", o: scratch.Options{Bring: func(name string) bool { return strings.HasPrefix(name, "z") }},
			want: []string{"keep dir z 755", "write 6 file z/e.txt 644", "keep dir z/f 755", "write 5 file z/f/g.txt 644"},
			warn: "2 changes of the command are left out, for writes does not take them: d/e.txt, d/f/g.txt",
		},
		"link out":            {script: "ln -s ../../x d/l", fails: names.ErrEscape, says: "symbolic link d/l, which leads to ../../x"},
		"absolute link":       {script: "ln -s $PWD/a.txt l", fails: names.ErrEscape, says: "symbolic link l"},
		"link out by another": {script: "ln -s . l; ln -s l/../x m", fails: names.ErrEscape, says: "symbolic link m"},
		"link that now leads out": {
			script: "ln -s ../../a.txt d/f/l; mv d/f .", fails: names.ErrEscape, says: "symbolic link f/l",
		},
		"a link that leads out and is ignored": {script: "ln -s /etc/passwd h/l.o"},
		"deep": {
			script: "i=0; while [ $i -lt 140 ]; do mkdir x; cd x; i=$((i+1)); done", fails: names.ErrTooDeep, says: "x/x/x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dirOf(t, files), nil)
			for range 2 { // the second time nothing needs to be written
				r.warns = nil
				if err := r.tree.Renew(t.Context(), r.view, c.o); err != nil {
					t.Fatal(err)
				}
				r.exact()
				if _, err := os.Lstat(filepath.Join(r.tree.Root(), ".git")); err == nil {
					t.Error("the last command's version control directory still exists")
				}
				r.script(c.script)
				left := visible(t, rooted(t, r.tree.Root()), c.o.NoIgnore)
				changes, err := r.tree.Collect(t.Context(), c.o)
				if !errors.Is(err, c.fails) || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Fatalf("Collect: %v", err)
				}
				if d := cmp.Diff(c.want, told(t, changes)); d != "" {
					t.Error(d)
				}
				if got := strings.Join(r.warns, "; "); got != c.warn {
					t.Errorf("warned %q, want %q", got, c.warn)
				}
				if c.fails != nil {
					continue
				}
				before := r.stage.Savepoint()
				if _, err := scratch.Stage(t.Context(), r.view, changes); err != nil {
					t.Fatal(err)
				}
				if c.o.Bring == nil {
					agree(t, left, visible(t, r.view, c.o.NoIgnore), visible(t, r.view, true))
				}
				staged := visible(t, r.view, true)
				r.view.Rollback(before)

				// The kept changes have the same effect.
				kept, err := scratch.Keep(t.Context(), changes, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				data, err := json.Marshal(kept)
				if err != nil {
					t.Fatal(err)
				}
				var read []scratch.Kept
				if err := json.Unmarshal(data, &read); err != nil {
					t.Fatal(err)
				}
				var again []scratch.Change
				for _, k := range read {
					again = append(again, k.Change())
				}
				if _, err := scratch.Stage(t.Context(), r.view, again); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(staged, visible(t, r.view, true)); d != "" {
					t.Errorf("the kept changes stage something else: %s", d)
				}
				r.view.Rollback(before)
			}
		})
	}
}

// A write to a file right after Renew has returned is noticed, even if size and time are unchanged.
func TestTree_Collect_atOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a": "0000"}), nil)
	for i := range 200 {
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(r.tree.Root(), "a")
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, fmt.Appendf(nil, "%04d", i+1), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
		changes, err := r.tree.Collect(t.Context(), scratch.Options{})
		if err != nil || len(changes) != 1 {
			t.Fatalf("round %d: %d changes, %v", i, len(changes), err)
		}
		if _, err := scratch.Stage(t.Context(), r.view, changes); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that changes while it is read is an error, and never a mixture.
func TestTree_Collect_restless(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"a": strings.Repeat("x", 1<<20)}), nil)
	if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(r.tree.Root(), "a")
	if err := os.WriteFile(name, []byte(strings.Repeat("y", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	changes, err := r.tree.Collect(t.Context(), scratch.Options{})
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	from, err := changes[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if _, err := io.ReadFull(from, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
	if err := os.WriteFile(name, []byte(strings.Repeat("z", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(from); !errors.Is(err, names.ErrDrift) {
		t.Errorf("a file that was written to while it was read: %v", err)
	}
}

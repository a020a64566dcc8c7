package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is one run of the program.
type bench struct {
	self  string // this program
	tools map[string]tool
	runs  int // rounds that count
	warm  int // warm-up rounds
	dir   string
	tree  string // the corpus; nothing writes to it
	base  Digest // of the corpus
	scale scale
	logf  func(string, ...any)

	left, right string // copies to write to, made when they are needed
}

// scale has the sizes of the generated trees, and the texts that are searched in the corpus.
type scale struct {
	growth      []int // files of the trees on which growth is measured
	growthRuns  int
	factors     []int // how many times more edits, or steps
	largeBytes  int64
	largePlaces int
	literal     string // the text of the searches
	folded      string // the text of the searches that ignore case
	from, to    string // the texts of the edits: no file has the second text
	manyFrom    string // the text of the run that measures peak memory
	manyTo      string
	smallRuns   int
	allocFiles  int   // files without a match; a second tree has four times as many
	editFiles   int   // files on which the growth with edits and steps is measured
	execFiles   []int // files of the trees on which commands run
	patchFiles  int   // files that a patch changes
	listRuns    int   // runs of the listed store
	durableRuns int
	resumeFiles int // files that were staged when a run is resumed
	fleetTrees  int
	doorFiles   int // files that a one-liner changes
	doorStarts  int // how often the program is started
}

// full is the scale of the table.
func full() scale {
	return scale{
		growth: []int{1_000, 10_000, 100_000}, growthRuns: 5, factors: []int{1, 4, 16},
		largeBytes: 1 << 30, largePlaces: 8_600, literal: "errors.New", folded: "recieve",
		from: "CreateOrUpdate creates", to: "CreateOrUpdate makes", manyFrom: "http.StatusOK",
		manyTo: "http.StatusFine", smallRuns: 500,
		allocFiles: 1_000, editFiles: 1_000, execFiles: []int{3_000, 90_000}, patchFiles: 200,
		listRuns: 10_000, durableRuns: 101, resumeFiles: 3_000, fleetTrees: 1_000, doorFiles: 3_085, doorStarts: 41,
	}
}

// kubernetes is the scale for the small corpus, which needs other search texts.
func kubernetes() scale {
	s := full()
	s.growth, s.growthRuns, s.largeBytes, s.largePlaces, s.folded = []int{100, 1_000, 10_000}, 3, 64<<20, 540, "todo"
	s.execFiles, s.listRuns, s.fleetTrees = []int{3_000}, 1_000, 200
	s.from, s.to, s.manyFrom, s.manyTo = "context.TODO()", "context.NONE()", "metav1.", "metav9."
	return s
}

// work returns a path in the directory that is removed at the end.
func (b *bench) work(name string) string { return filepath.Join(b.dir, "work", name) }

// clear removes the work directory.
func (b *bench) clear() error { return os.RemoveAll(b.work("")) }

// out returns the file for an output.
func (b *bench) out(name string) string { return b.work(strings.ReplaceAll(name, "/", "-") + ".out") }

// copies makes the two trees that jobs write to. Each side has a tree of its own, so that it does not see the other
// side's files.
func (b *bench) copies() error {
	if b.left != "" {
		return nil
	}
	left, right := b.work("left"), b.work("right")
	for _, to := range []string{left, right} {
		b.logf("copying the corpus to %s", to)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := copyTree(b.tree, to); err != nil {
			return err
		}
		if err := sameTrees("a fresh copy", to, b.base); err != nil {
			return err
		}
	}
	b.left, b.right = left, right
	return nil
}

// settle writes dirty pages to the disk, so that no side pays for the writes of the other side.
func (b *bench) settle(ctx context.Context) error {
	t := b.tools["sync"]
	if t.missing != "" {
		return nil
	}
	return exec.CommandContext(ctx, t.path).Run()
}

// forget removes the backups in a tree.
func forget(dir string) error { return os.RemoveAll(filepath.Join(dir, stateDir)) }

// ours returns millrace's side as a command: flags of the job sub-command, then the tree and the pipeline.
func (b *bench) ours(out, dir, what string, flags ...string) command {
	args := append([]string{b.self, "job"}, flags...)
	return command{dir: b.dir, out: b.out(out), args: append(args, dir, what)}
}

// grep returns ripgrep's side as a command.
func (b *bench) grep(out string, args ...string) command {
	return command{dir: b.tree, out: b.out(out), args: append([]string{b.tools["rg"].path}, append(args, ".")...)}
}

// shell returns a line of shell as a command. $RG in it is ripgrep.
func (b *bench) shell(out, dir, line string) command {
	return command{dir: dir, out: b.out(out),
		args: []string{b.tools["sh"].path, "-c", strings.ReplaceAll(line, "$RG", quote(b.tools["rg"].path))}}
}

// quote quotes a text as one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// missing returns the reason why a tool that a job needs cannot be used.
func (b *bench) missing(needs []string) string {
	for _, name := range needs {
		if why := b.tools[name].missing; why != "" {
			return why
		}
	}
	return ""
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

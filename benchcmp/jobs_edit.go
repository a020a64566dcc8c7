package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// editJobs change files of the corpus, each side in a copy of its own: forth in one round and back in the next.
func editJobs() []job {
	needs := []string{"rg", "sed", "xargs", "sh"}
	return []job{
		{"edit/dry-run", needs, func(ctx context.Context, b *bench) (Outcome, error) { return edits{"edit/dry-run", 0.30}.run(ctx, b) }},
		{"edit/commit", needs, func(ctx context.Context, b *bench) (Outcome, error) { return edits{"edit/commit", 0.50}.run(ctx, b) }},
		{"edit/restore", needs, func(ctx context.Context, b *bench) (Outcome, error) { return edits{"edit/restore", 0.30}.run(ctx, b) }},
	}
}

type edits struct {
	name string
	goal float64
}

// chain is the line that a user would type: find, replace, and count the lines with the new text.
func chain(from, to string) string {
	return fmt.Sprintf("$RG -l0 -uuu -F %s . | xargs -0 sed -i %s; $RG -uuu -c -F %s .", quote(from),
		quote(substitute(from, to)), quote(to))
}

// substitute is the command of sed for a text.
func substitute(from, to string) string {
	pattern := strings.NewReplacer(`\`, `\\`, `/`, `\/`, `.`, `\.`, `*`, `\*`, `[`, `\[`, `^`, `\^`, `$`, `\$`)
	text := strings.NewReplacer(`\`, `\\`, `/`, `\/`, `&`, `\&`)
	return "s/" + pattern.Replace(from) + "/" + text.Replace(to) + "/g"
}

// direction returns the old and the new text of a round. Odd rounds swap them.
func direction(round int, from, to string) (string, string) {
	if round%2 == 1 {
		return to, from
	}
	return from, to
}

func (e edits) run(ctx context.Context, b *bench) (Outcome, error) {
	if err := b.copies(); err != nil {
		return Outcome{}, err
	}
	out, err := e.measure(ctx, b)
	if err != nil {
		// The state of the copies is not known: the next job makes new ones.
		b.left, b.right = "", ""
	}
	return out, err
}

func (e edits) measure(ctx context.Context, b *bench) (Outcome, error) {
	settle := func(ctx context.Context, _ int) error { return b.settle(ctx) }
	ours := side{prepare: settle, command: e.ours(b)}
	theirs := side{prepare: settle, command: func(round int) command {
		from, to := direction(round, b.scale.from, b.scale.to)
		return b.shell(e.name+"-chain", b.right, chain(from, to))
	}}
	if e.name == "edit/restore" {
		ours = b.restoring(e.name)
	}
	var verified string
	left, right, err := b.pairs(ctx, b.even(), ours, theirs, func(round int) (err error) {
		if round == 0 {
			verified, err = e.verify(ctx, b)
		}
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	for _, tree := range []string{b.left, b.right} {
		if err := sameTrees(e.name+" in the end", tree, b.base); err != nil {
			return Outcome{}, err
		}
	}
	against := strings.ReplaceAll(chain(b.scale.from, b.scale.to), "$RG", "rg")
	return Outcome{Versus: []Versus{versus(against, verified, e.goal, left, right)}}, nil
}

// ours is millrace's side: a dry run always forth, for it changes nothing, a run in turn.
func (e edits) ours(b *bench) func(round int) command {
	return func(round int) command {
		if e.name == "edit/dry-run" {
			return b.ours(e.name, b.left, replacing(b.scale.from, b.scale.to), "-print", "counts")
		}
		return b.ours(e.name, b.left, replacing(direction(round, b.scale.from, b.scale.to)), "-print", "counts", "-do",
			"run")
	}
}

// restoring is millrace's side of a restore: the commit that it undoes is made before, and is not measured.
func (b *bench) restoring(name string) side {
	var id string
	return side{
		prepare: func(ctx context.Context, _ int) error {
			c := b.ours(name+"-commit", b.left, replacing(b.scale.from, b.scale.to), "-print", "backup", "-do", "run")
			if _, err := b.run(ctx, c); err != nil {
				return err
			}
			said, err := os.ReadFile(c.out)
			if err != nil {
				return err
			}
			if id = strings.TrimSpace(string(said)); id == "" {
				return wrong("%s: the commit before has left no backup", name)
			}
			return b.settle(ctx)
		},
		command: func(int) command { return b.ours(name, b.left, id, "-do", "restore", "-print", "nothing") },
	}
}

// verify checks the result of the first round.
func (e edits) verify(ctx context.Context, b *bench) (string, error) {
	changed, err := digest(b.right)
	if err != nil {
		return "", err
	}
	if changed.SHA256 == b.base.SHA256 {
		return "", wrong("%s: the chain has changed nothing", e.name)
	}
	want := b.base
	if e.name == "edit/commit" {
		want = changed // byte for byte what sed has made
	}
	if err := sameTrees(e.name, b.left, want); err != nil {
		return "", err
	}
	if e.name == "edit/restore" {
		return "tree as before", nil
	}
	// Millrace counts matches and the chain counts lines. So the counts of Millrace are compared with another run of
	// ripgrep, and the chain's list is compared by its names only.
	counting := command{dir: b.right, out: b.out(e.name + "-counts"),
		args: []string{b.tools["rg"].path, "-uuu", "--count-matches", "-F", b.scale.to, "."}}
	if _, err := b.run(ctx, counting); err != nil {
		return "", err
	}
	n, err := equalLists(b.out(e.name), counting.out)
	if err != nil {
		return "", err
	}
	lines, err := readLines(b.out(e.name + "-chain"))
	if err != nil {
		return "", err
	}
	if len(lines) != n {
		return "", wrong("%s: the chain lists %d files, not %d", e.name, len(lines), n)
	}
	said := thousands(n) + " files"
	if e.name == "edit/commit" {
		said += ", trees equal"
	}
	return said, nil
}

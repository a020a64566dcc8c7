package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
)

// running are the flags of `fleet run`.
type running struct {
	limits
	name, from, gitFrom, then string
	urls                      []string
	dryRun                    bool
	git                       gittrees.Trees
}

// newRun returns the command `fleet run`.
func newRun(p door.Program) *cobra.Command {
	var r running
	cmd := &cobra.Command{
		Use:   "run PIPELINE [VAR=VALUE…] [DIR…]",
		Short: "Run a pipeline over many trees",
		Long: `Run runs the pipeline on each DIR, and on a clone of each repository of --git. On a terminal all trees are
planned first, and the command shows the numbers and asks, unless -y is given; "millrace fleet diff -" shows the
plans. Without a terminal it does not ask. PIPELINE and VAR=VALUE are as in "millrace run"; write a directory with
a = in it as ./DIR.

The .millrace.yaml of each tree limits the changes to that tree. The .millrace.yaml of the working directory also
limits all trees, and its paths apply to the trees below it. --no-project ignores these files.

With --branch, --commit-message, --author or --then, and for clones, each tree is a git repository. One commit is
made in each tree that changed, and none in other trees. A tree with changes that are not committed is refused,
unless --allow-dirty is given. Hooks of the repositories do not run. A repository whose own settings run programs is
refused. The exit status is 1 if trees have failed or were not begun.`,
		Example: `  millrace fleet run licence.yaml api web -n
  millrace fleet run licence.yaml --from dirs.txt --jobs 4 --stop-after 3
  millrace fleet run rename from=Old to=New services/*
  millrace fleet run licence.yaml --git-from urls.txt --clone-to clones --branch licence \
    --commit-message 'Add licence headers' --then 'git push -u origin HEAD && gh pr create --fill'`,
		Args: door.Args(1, -1),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) error { return r.run(ctx, p, t, args) }),
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return byname.Words(cmd.Context(), p), cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	r.limits.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&r.name, "name", "", "`ID` of the campaign: letters, digits, - and _")
	f.StringVar(&r.from, "from", "", "read directories from `FILE`, a line each; - is stdin")
	f.StringArrayVar(&r.urls, "git", nil, "clone the repository of `URL`, and run on the clone; may be repeated")
	f.StringVar(&r.gitFrom, "git-from", "", "read URLs of repositories from `FILE`, a line each; - is stdin")
	f.StringVar(&r.git.CloneTo, "clone-to", "",
		"`DIR` of the clones, which is made; a clone that is there is used as it is")
	f.IntVar(&r.git.Depth, "depth", 0, "clone the last `N` commits; 0 is all")
	f.StringVar(&r.git.Branch, "branch", "", "commit to the new branch `NAME`")
	f.StringVar(&r.git.Message, "commit-message", "",
		"`TEXT` of the commits; {{campaign}}, {{target}}, {{branch}}, {{files}} and {{edits}} have values in it")
	f.StringVar(&r.git.Author, "author", "", "author of the commits, as `NAME <MAIL>`")
	f.BoolVar(&r.git.AllowDirty, "allow-dirty", false,
		"take trees with changes that are not committed, and leave these out of the commit")
	f.StringVar(&r.then, "then", "",
		"run `COMMAND` by /bin/sh in each changed tree after the commit; MILLRACE_TARGET and MILLRACE_BRANCH are set")
	f.BoolVarP(&r.dryRun, "dry-run", "n", false, "plan all trees and change nothing")
	p.YesFlag(cmd)
	p.ProgramFlags(cmd)
	p.FormatFlag(cmd, reportFormats...)
	return cmd
}

// isVariable reports whether an argument sets a variable: NAME=VALUE or NAME:=JSON.
func isVariable(arg string) bool {
	name, _, found := strings.Cut(arg, "=")
	name = strings.TrimSuffix(name, ":")
	return found && name != "" && (name[0] == '_' || name[0] > '9') && !strings.ContainsFunc(name, notInID)
}

func (r *running) run(ctx context.Context, p door.Program, t door.Tree, args []string) (err error) {
	var values, dirs []string
	for _, arg := range args[1:] {
		if isVariable(arg) {
			values = append(values, arg)
		} else {
			dirs = append(dirs, arg)
		}
	}
	pipeline, file, err := t.Pipeline(ctx, args[0], values)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(pipeline.Steps(), func(s millrace.Step) bool { return s.Manual }) {
		return p.Usage(
			errors.New(
				"the pipeline has a step that waits for a person: run it tree by tree, with millrace run --keep"))
	}
	c := campaign{ID: r.name, Created: time.Now().UTC(), User: p.User(), File: file, Planned: true}
	if c.ID == "" {
		c.ID = idOf(pipeline.Name()) + c.Created.Format("20060102-150405")
	}
	if isNewest(c.ID) {
		return p.Usage(fmt.Errorf("--name %q: it means the newest campaign", c.ID))
	}
	if !isID(c.ID) {
		return p.Usage(fmt.Errorf("--name %q: letters, digits, - and _ are allowed, 1 to 100", c.ID))
	}
	if c.Pipeline, err = pipeline.MarshalJSON(); err != nil {
		return err
	}
	if err := r.targets(ctx, p, &c, dirs); err != nil {
		return err
	}
	o, err := create(p, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	p.Talk("campaign %s, %d trees", o.ID, len(o.Targets))
	all := o.left()
	if r.dryRun || p.OnTerminal() && !p.Yes() {
		if !r.dryRun {
			o.shown = newShown()
		}
		sum, err := o.work(ctx, p, t, r.limits, phasePlan, all)
		if err != nil {
			return err
		}
		if r.dryRun {
			defer p.Talk("nothing was changed: millrace fleet diff %s shows the plans", o.ID)
			return o.ended(p, sum)
		}
		if err := o.ask(ctx, p, sum); err != nil {
			return err
		}
	}
	o.Planned = false
	if err := o.save(); err != nil {
		return err
	}
	return o.make(ctx, p, t, r.limits, all)
}

// ask asks the user about the plans.
func (o *opened) ask(ctx context.Context, p door.Program, sum fleet.Summary) error {
	for {
		answer, err := p.Ask(ctx, fmt.Sprintf("%s.  Apply? [y]es [d]iff [N]o  ", sum))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch answer = strings.ToLower(strings.TrimSpace(answer)); {
		case err == nil && (answer == "y" || answer == "yes"):
			return nil
		case err == nil && answer == "d":
			if err := o.writeDiffs(ctx, p, nil); err != nil {
				return err
			}
		default:
			p.Talk("nothing was changed")
			return p.Said("declined")
		}
	}
}

// targets reads the list of trees.
func (r *running) targets(ctx context.Context, p door.Program, c *campaign, dirs []string) error {
	more, err := listed(ctx, p, r.from)
	if err != nil {
		return err
	}
	urls, err := listed(ctx, p, r.gitFrom)
	if err != nil {
		return err
	}
	if r.from == "-" && r.gitFrom == "-" {
		return p.Usage(errors.New("--from and --git-from cannot both read stdin"))
	}
	urls = append(slices.Clone(r.urls), urls...)
	dirs = append(dirs, more...)
	for i, dir := range dirs {
		dirs[i] = p.Base(dir)
	}
	switch {
	case len(dirs)+len(urls) == 0:
		return p.Usage(errors.New("name directories, or repositories with --git URL"))
	case len(urls) > 0 && r.git.CloneTo == "":
		return p.Usage(errors.New("--git and --git-from need a directory for the clones: --clone-to DIR"))
	}
	for t, err := range fleet.Paths(dirs...) {
		if err == nil {
			err = t.Check()
		}
		if err == nil {
			err = aside(p, t.Root)
		}
		if err != nil {
			return p.Usage(err)
		}
		c.Targets = append(c.Targets, t)
	}
	for t, err := range gittrees.Clones(urls...) {
		if err == nil {
			err = t.Check()
		}
		if err != nil {
			return p.Usage(err)
		}
		c.Targets = append(c.Targets, t)
	}
	git := r.git
	if r.then != "" {
		git.Then = []string{"/bin/sh", "-c", r.then}
	}
	if len(urls) == 0 && git.Branch == "" && git.Message == "" && git.Author == "" && git.Then == nil &&
		!git.AllowDirty {
		return nil
	}
	git.Campaign = c.ID
	if git.CloneTo != "" {
		git.CloneTo = p.Base(git.CloneTo)
	}
	if err := git.Check(); err != nil {
		return p.Usage(err)
	}
	c.Git = &git
	return nil
}

// aside returns an error if a tree contains the directory of the campaigns: a pipeline could write there.
func aside(p door.Program, dir string) error {
	shelf, err := shelf(p)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, place := range []string{shelf, resolved(shelf)} {
		if inside, err := filepath.Rel(dir, place); err == nil && filepath.IsLocal(inside) {
			return fmt.Errorf("the tree '%s' contains the directory of the campaigns, %s", dir, shelf)
		}
	}
	return nil
}

// resolved resolves the symlinks in the part of a name that exists.
func resolved(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	parent := filepath.Dir(name)
	if parent == name {
		return name
	}
	return filepath.Join(resolved(parent), filepath.Base(name))
}

// listed reads a list, one entry per line. Empty lines and lines that begin with # are skipped.
func listed(ctx context.Context, p door.Program, file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := p.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// notInID reports whether a character is not allowed in the id of a campaign.
func notInID(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}

// idOf returns the beginning of the id of a campaign, derived from the name of its pipeline.
func idOf(name string) string {
	name = strings.Trim(strings.Join(strings.FieldsFunc(name, notInID), "-"), "-")
	if name == "" {
		return ""
	}
	return name[:min(len(name), 60)] + "-"
}

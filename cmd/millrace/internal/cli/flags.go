package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// flags are the values of all flags shared by several commands. A command only registers the flags that it uses.
type flags struct {
	dir            string // -C
	quiet, verbose bool

	format string // "" for the default of the command
	events string

	allow, deny []string
	manyTrees   bool // allow and deny count from the root of each tree, as in a fleet
	ceiling     string
	noProject   bool
	inPlace     bool

	color           string
	noPager         bool
	dryRun, yes     bool
	check           bool
	nul             bool   // -0
	review          bool   // -p
	store           string // -o
	force, noBackup bool
	name            string
	expect          string
	except          []string
	strict          bool

	reach      reachOf
	keepFailed bool
	allowExec  []string
	agents     []string
	budget     string
	deadline   time.Duration
}

// The words of --format.
const (
	formatDiff   = "diff"
	formatStat   = "stat"
	formatJSON   = "json"
	formatJSONL  = "jsonl"
	formatHTML   = "html"
	formatLSP    = "lsp"
	formatReport = "report"
	formatNames  = "names"
	formatNone   = "none"
	formatID     = "id" // not a word of the flag: set by -q
)

// changeFormats are the formats for a change.
var changeFormats = []string{
	formatDiff, formatStat, formatNames, formatJSON, formatJSONL, formatHTML, formatLSP, formatReport, formatNone,
}

// commonFlags registers the flags of all commands.
func (a *App) commonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.dir, "directory", "C", "", "use `DIR` as the root of the tree and as the working directory")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "print only errors on stderr; for a commit print only its id")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "report everything")
	f.Var(&choice{to: &a.flags.color, words: []string{tty.Auto, tty.Always, tty.Never}}, "color",
		"`WHEN` to use colours: auto, always, never")
	completeWords(root, "color", []string{tty.Auto, tty.Always, tty.Never})
	f.BoolVar(&a.flags.noPager, "no-pager", false, "show a long diff without a pager")
}

// formatFlag registers --format with the formats that the command supports.
func (a *App) formatFlag(cmd *cobra.Command, formats ...string) {
	cmd.Flags().Var(&choice{to: &a.flags.format, words: formats}, "format",
		"the output on stdout: "+strings.Join(formats, ", "))
	completeWords(cmd, "format", formats)
	if f := cmd.Flags(); slices.Contains(formats, formatNames) && f.Lookup("null") == nil {
		f.BoolVarP(&a.flags.nul, "null", "0", false, "end each name of --format names with a NUL, not with a line end")
	}
}

// checkFlag registers --check.
func (a *App) checkFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.flags.check, "check", false,
		"write nothing, print the names of the files that would change, and end with status 10 if there are any")
}

// completeWords makes a shell complete the words of a flag.
func completeWords(cmd *cobra.Command, name string, words []string) {
	// The only errors are a missing flag and a flag that already has a completion.
	_ = cmd.RegisterFlagCompletionFunc(name,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder))
}

// treeFlags registers the flags of commands that plan or change something in a tree.
func (a *App) treeFlags(cmd *cobra.Command) {
	a.policyFlags(cmd)
	a.eventsFlag(cmd)
}

// eventsFlag registers --events.
func (a *App) eventsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.flags.events, "events", "", "write each event to `FILE` as a line of JSON; - for stdout")
}

// policyFlags registers the flags that limit access and changes.
func (a *App) policyFlags(cmd *cobra.Command) {
	a.reachFlags(cmd)
	cmd.Flags().StringVar(&a.flags.ceiling, "ceiling", "",
		"commit nothing above `LEVEL` of risk, with or without force: low, medium, high, critical")
	completeWords(cmd, "ceiling", []string{"low", "medium", "high", "critical"})
}

// reachFlags registers the flags that limit access.
func (a *App) reachFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.flags.allow, "allow", nil,
		"let steps reach only `PATH` and everything below it; may be repeated")
	f.StringArrayVar(&a.flags.deny, "deny", nil,
		"hide paths that match `GLOB` from steps; one with a slash counts from the working directory; may be repeated")
	f.BoolVar(&a.flags.inPlace, "in-place", false,
		"overwrite the bytes of files that are mount points; others are replaced as always")
	a.projectFlag(cmd)
}

// projectFlag registers --no-project.
func (a *App) projectFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.flags.noProject, "no-project", false,
		"ignore the configuration of the project, .millrace.yaml")
}

// denyFrom sets the help of --deny for commands whose trees do not contain the working directory.
func denyFrom(cmd *cobra.Command, place string) {
	deny := cmd.Flags().Lookup("deny")
	deny.Usage = strings.Replace(deny.Usage, "the working directory", place, 1)
}

// changeFlags registers the flags of commands that change a tree, including treeFlags and formatFlag.
func (a *App) changeFlags(cmd *cobra.Command) {
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	f := cmd.Flags()
	f.BoolVarP(&a.flags.dryRun, "dry-run", "n", false, "show the change and write nothing")
	a.checkFlag(cmd)
	f.BoolVarP(&a.flags.yes, "yes", "y", false, "make the change without asking")
	f.BoolVarP(&a.flags.review, "review", "p", false, "decide on the change hunk by hunk first")
	a.storeFlag(cmd)
	a.exceptFlag(cmd)
	a.forceFlags(cmd)
	a.expectFlag(cmd)
	f.BoolVar(&a.flags.strict, "strict", false, "fail if a step skips an unreadable file")
}

// storeFlag registers -o.
func (a *App) storeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.flags.store, "output", "o", "", "store the plan in `FILE` and change nothing")
}

// forceFlags registers the flags that become options of a pipeline.
func (a *App) forceFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&a.flags.force, "force", false, "pass the limit on files and the levels of risk, up to the ceiling")
	f.BoolVar(&a.flags.noBackup, "no-backup", false, "keep no backup, so that the change cannot be undone")
	f.StringVar(&a.flags.name, "name", "", "`NAME` of the change in the log")
}

// expectFlag registers --expect.
func (a *App) expectFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.flags.expect, "expect", "",
		"fail unless there are `N` edits, or from N to M: N..M, N.., ..M")
}

// choice is a flag value that is one of some words.
type choice struct {
	to    *string
	words []string
}

// String, Set and Type implement pflag.Value.
func (c *choice) String() string { return *c.to }

func (c *choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		if near, ok := actions.Nearest(word, c.words); ok {
			return fmt.Errorf("must be one of %s: did you mean %s?", strings.Join(c.words, ", "), near)
		}
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	*c.to = word
	return nil
}

func (c *choice) Type() string { return "FORMAT" }

// exceptFlag registers --except.
func (a *App) exceptFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&a.flags.except, "except", nil,
		"exclude `PATH` with everything below it, the paths of a glob, or with PATH:N the Nth hunk of a file; may be repeated")
}

// reachOf are the flags for the access of commands outside the tree.
type reachOf struct {
	network          bool
	read, write, env []string
	timeout          time.Duration
	sandbox          string
}

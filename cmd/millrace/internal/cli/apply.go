package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
)

// newApply makes `apply`.
func (a *App) newApply() *cobra.Command {
	var digest string
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Commit a stored plan",
		Long: `Apply commits the plan in the file PLAN, or in stdin for -, exactly as stored. If a file has
changed since the plan was made, apply reports a conflict and changes nothing. A plan of high risk needs --force
again, or on a terminal the word yes.`,
		Example: `  millrace plan rename.json -o rename.plan
  millrace apply rename.plan
  millrace apply rename.plan --except docs
  millrace apply rename.plan --digest 3a7bd3e2…   only if it is the approved plan`,
		Args: door.Args(1, 1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			return s.apply(ctx, args[0], digest)
		}),
	}
	a.treeFlags(cmd)
	a.formatFlag(cmd, changeFormats...)
	a.checkFlag(cmd)
	a.exceptFlag(cmd)
	f := cmd.Flags()
	f.BoolVarP(&a.flags.dryRun, "dry-run", "n", false, "show the change and write nothing")
	f.BoolVarP(&a.flags.yes, "yes", "y", false, "never ask")
	f.BoolVar(&a.flags.force, "force", false, "pass the limit on files and the levels of risk, up to the ceiling")
	f.StringVar(&digest, "digest", "", "refuse any plan with another digest than `DIGEST`")
	return cmd
}

// apply commits the plan in a file.
func (s *session) apply(ctx context.Context, name, digest string) error {
	data, err := s.readInput(ctx, name)
	if err != nil {
		return err
	}
	// The commit is marked with a hash of the plan, so that it is found when the same plan is applied again. The mark is
	// never the same twice: applying a plan again after an undo is not a repetition of that run.
	mark := planMark(data)
	s.x.RunID = mark + rand.Text()
	plan, err := s.x.OpenPlan(ctx, s.fs, data)
	if err != nil && isPatch(data) {
		return &usageError{fmt.Errorf("%s is a patch, not a plan; write: millrace patch %[1]s", name)}
	}
	if err != nil {
		return &sourceError{name: name, err: err}
	}
	defer plan.Close()
	plan = plan.WithForce(s.flags.force)
	s.flags.dryRun = s.flags.dryRun || s.flags.check
	if digest != "" {
		if err := sameDigest(plan, digest); err != nil {
			return err
		}
	}
	if plan, err = s.without(plan); err != nil {
		return err
	}
	defer plan.Close()
	s.sure = s.flags.yes || !plan.Result().WouldBlock || !s.onTerminal()
	err = s.applyPlan(ctx, plan)
	if isType[*millrace.ConflictError](err) {
		if id := s.appliedBy(ctx, mark); id != "" {
			return fmt.Errorf("the plan was applied already, by commit %s: %w", id, err)
		}
	}
	return err
}

// isPatch reports whether a file begins like a patch.
func isPatch(data []byte) bool {
	for _, begin := range []string{"--- ", "diff ", "*** Begin Patch", "Index: ", "From "} {
		if strings.HasPrefix(string(data), begin) {
			return true
		}
	}
	return false
}

// planMark returns the prefix of the run ids of all commits of a stored plan.
func planMark(data []byte) string {
	sum := sha256.Sum256(data)
	return "apply-" + hex.EncodeToString(sum[:12]) + "-"
}

// appliedBy returns the id of the newest commit with a mark that was not undone, "" if not found.
func (s *session) appliedBy(ctx context.Context, mark string) string {
	list, err := s.x.ListBackups(ctx, s.fs)
	if err != nil {
		return "" // the conflict is reported in any case
	}
	found, at := "", int64(0)
	for _, info := range list {
		if strings.HasPrefix(info.RunID, mark) && info.UndoneBy == "" && info.Time.UnixNano() > at {
			found, at = info.ID, info.Time.UnixNano()
		}
	}
	return found
}

// sameDigest returns an error if the plan has another digest.
func sameDigest(plan *millrace.Plan, digest string) error {
	got, err := plan.Digest()
	if err != nil {
		return err
	}
	if !strings.EqualFold(got, digest) {
		return &usageError{fmt.Errorf("--digest: this plan has %s", got)}
	}
	return nil
}

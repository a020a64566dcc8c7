package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
	"github.com/millrace-go/millrace/risk"
)

// approval asks the user about a plan: which parts of it to make, and whether to make it.
type approval struct {
	*session
	plan    *millrace.Plan // the original plan
	reviews *review.Review // nil before the first review
	trimmed *millrace.Plan // the parts accepted the last time
}

// close closes the plan of the last review.
func (a *approval) close() {
	if a.trimmed != nil {
		a.trimmed.Close()
	}
}

// review asks about each hunk, and returns the plan with the accepted ones. If called again, it goes back to the last
// decision.
func (a *approval) review(ctx context.Context) (*millrace.Plan, error) {
	t := a.terminal()
	if t == tty.None {
		return nil, &usageError{fmt.Errorf("a review needs a terminal: %w", tty.ErrNone)}
	}
	if a.reviews == nil {
		a.reviews = review.New(a.plan)
		a.reviews.Style = a.terminalStyle()
		a.reviews.Edit = func(text string) (string, error) {
			return tty.Edit(tty.Editor(a.Getenv, a.config.Editor), t, text)
		}
	}
	trimmed, err := a.reviews.Run(ctx, t, t)
	_, _ = io.WriteString(t, "\n")
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, review.ErrAborted):
		return nil, errDeclined
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errDeclined, err)
	case len(trimmed.Outline()) == 0 && len(a.plan.Outline()) > 0:
		return nil, fmt.Errorf("nothing was taken: %w", errDeclined)
	}
	if trimmed != a.plan {
		a.close()
		a.trimmed = trimmed
	}
	return trimmed, nil
}

// ask asks the user whether to make the change, and returns the plan to commit, or nil if it was stored instead. A
// change that is blocked, or of high risk, must be approved by the whole word, and is then forced.
func (a *approval) ask(ctx context.Context, plan *millrace.Plan) (*millrace.Plan, error) {
	for {
		question, word := a.question(plan)
		answer, err := a.App.ask(ctx, question)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && answer == "" {
			_, _ = fmt.Fprintln(a.terminal())
			return nil, errDeclined // the end of the input means no
		}
		switch answer = strings.ToLower(strings.TrimSpace(answer)); {
		case answer == "yes" && word:
			return plan.WithForce(true), nil
		case (answer == "y" || answer == "yes") && !word:
			return plan, nil
		case answer == "s":
			return nil, a.askStore(ctx, plan)
		case answer == "" || answer == "n" || answer == "no" || answer == "q":
			return nil, errDeclined
		case answer != "r":
			continue // a wrong key does not lose the decisions of a review
		}
		if plan, err = a.review(ctx); err != nil {
			return nil, err
		}
	}
}

// question returns the question for the user, and whether the answer must be the whole word.
func (a *approval) question(plan *millrace.Plan) (text string, word bool) {
	result := plan.Result()
	style := a.terminalStyle()
	size := counted(result.FilesChanged.Count(), "file")
	if result.TotalEdits > 0 {
		size = counted(result.TotalEdits, "edit") + " in " + size
	}
	if result.OverallRiskLevel != risk.Unset { // a restore has no risk level
		size += ", " + strings.ToLower(result.OverallRiskLevel.String()) + " risk"
	}
	word = review.NeedsWord(result)
	if !word {
		return style.Paint("1", size+".  Apply? [y]es [r]eview [s]ave plan [N]o") + "  ", false
	}
	reason := result.BlockReason
	if reason != "" {
		reason = "\n" + style.Paint("33", style.Text(reason))
	}
	return style.Paint("1", size+".") + reason + "\n" +
		style.Paint("1", "Type yes to apply it all the same; [r]eview [s]ave plan [N]o") + "  ", true
}

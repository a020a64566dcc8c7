package millracetemporal

import (
	"context"
	"fmt"
	"iter"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/millrace-go/millrace/fleet"
)

// whileCanceling is how long Schedule waits for a campaign that it has canceled.
const whileCanceling = 2 * time.Minute

// Schedule implements [fleet.Scheduler]. It reads all targets first. It delivers the outcomes when the campaign has
// ended, the latest of each target, in no order; until then [Client.Progress] reports the progress. Observers are not
// called. When ctx ends, Schedule cancels the campaign. An ended campaign with the same id starts again; a running one
// is an error.
func (c Client) Schedule(ctx context.Context, campaign fleet.Campaign, targets iter.Seq2[fleet.Target, error],
	done func(fleet.Outcome) error) error {
	if err := c.start(ctx, campaign, targets, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE); err != nil {
		return err
	}
	p, err := c.Wait(ctx, campaign.ID)
	if ctx.Err() != nil {
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), whileCanceling)
		defer cancel()
		if err := c.Stop(waiting, campaign.ID); err != nil {
			return fmt.Errorf("%w; and the campaign could not be canceled: %w", context.Cause(ctx), err)
		}
		p, err = c.Wait(waiting, campaign.ID)
	}
	if err != nil {
		return err
	}
	if err := c.deliver(context.WithoutCancel(ctx), p, done); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// deliver passes the outcome of each target to done once.
func (c Client) deliver(ctx context.Context, p Progress, done func(fleet.Outcome) error) error {
	targets, err := targetsIn(ctx, c.Blobs, p.Book)
	if err != nil {
		return err
	}
	given := make([]bool, p.Targets)
	left := p.Targets
	for r, err := range outcomes(ctx, c.Blobs, p.Head) {
		if err != nil {
			return err
		}
		o := r.Outcome
		if o.Index < 0 || o.Index >= p.Targets || given[o.Index] {
			continue
		}
		given[o.Index] = true
		left--
		if o.Target, err = targets.at(ctx, o.Index); err != nil {
			return err
		}
		if err := done(o); err != nil {
			return err
		}
	}
	if left > 0 {
		return fmt.Errorf("campaign %s: %d targets have no outcome", p.Campaign, left)
	}
	return nil
}

// pages reads the targets of a campaign, with one page in memory at a time.
type pages struct {
	blobs Blobs
	book  book
	held  int
	page  []fleet.Target
}

func (p *pages) at(ctx context.Context, index int) (fleet.Target, error) {
	at := index / p.book.Page
	if p.page == nil || p.held != at {
		page, err := get[[]fleet.Target](ctx, p.blobs, p.book.Pages[at])
		if err != nil {
			return fleet.Target{}, err
		}
		p.held, p.page = at, page
	}
	if index%p.book.Page >= len(p.page) {
		return fleet.Target{}, fmt.Errorf("the campaign has no target %d", index)
	}
	return p.page[index%p.book.Page], nil
}

// targetsIn opens a book of targets.
func targetsIn(ctx context.Context, b Blobs, ref string) (*pages, error) {
	list, err := get[book](ctx, b, ref)
	if err != nil {
		return nil, err
	}
	if list.Count < 0 || list.Page <= 0 || len(list.Pages) != (list.Count+list.Page-1)/list.Page {
		return nil, fmt.Errorf("book %s: %d pages for %d targets", ref, len(list.Pages), list.Count)
	}
	return &pages{blobs: b, book: list}, nil
}

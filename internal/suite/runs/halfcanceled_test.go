package runs_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// countedContext ends at the n-th call of Err.
type countedContext struct {
	context.Context
	left atomic.Int64
}

func (c *countedContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A run whose context ends at any moment reports the cancellation, or has written.
func TestCanceledAtAnyMoment(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").Step("a", actions.Create{Path: "a", Content: "a"}).MustBuild()
	for n := int64(0); ; n++ {
		fsys, ctx := suite.Tree(), &countedContext{Context: t.Context()}
		ctx.left.Store(n)
		res, err := millrace.Run(ctx, fsys, p)
		written, _ := afero.Exists(fsys, "a")
		if (err == nil) != written {
			t.Errorf("canceled at question %d: written %v, %v, %+v", n, written, err, res)
		}
		if ctx.left.Load() > 0 {
			break
		}
	}
}

package scratch

import (
	"context"
	"errors"

	"github.com/millrace-go/millrace/internal/stage"
)

var errUnfinished = errors.New("scratch trees are still to be built")

type tree struct{}

func open(context.Context, Config) (*Tree, error)                  { return nil, errUnfinished }
func (t *tree) root() string                                       { return "" }
func (t *tree) temp() string                                       { return "" }
func (t *tree) home() string                                       { return "" }
func (t *tree) shared() (string, error)                            { return "", errUnfinished }
func (t *tree) renew(context.Context, *stage.Stage, Options) error { return errUnfinished }
func (t *tree) collect(context.Context, Options) ([]Change, error) { return nil, errUnfinished }
func (t *tree) discard()                                           {}
func (t *tree) close() error                                       { return errUnfinished }
func keep(context.Context, []Change, int64) ([]Kept, error)        { return nil, errUnfinished }
func (k Kept) change() Change                                      { return Change{} }
func stageAll(context.Context, *stage.Stage, []Change) (Outcome, error) {
	return Outcome{}, errUnfinished
}

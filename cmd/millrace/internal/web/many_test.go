package web_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
)

// counted counts how often a file is opened.
type counted struct {
	afero.Fs
	opened atomic.Int64
}

func (c *counted) Open(name string) (afero.File, error) {
	c.opened.Add(1)
	return c.Fs.Open(name)
}

func (c *counted) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	c.opened.Add(1)
	return c.Fs.OpenFile(name, flag, perm)
}

// A page of a plan of 10,000 files opens the files of that page, and no others.
func TestTenThousandFiles(t *testing.T) {
	t.Parallel()
	fsys := &counted{Fs: afero.NewMemMapFs()}
	for i := range 10_000 {
		if err := afero.WriteFile(fsys, fmt.Sprintf("f%04d", i), []byte("one\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var x millrace.Executor
	plan, err := x.Plan(t.Context(), fsys, millrace.New("words").
		Step("fix", actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}}).MustBuild())
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	stored, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, ended: make(chan error, 1)}
	s.decide(web.Plan{Open: func(ctx context.Context) (*millrace.Plan, error) {
		p, err := x.OpenPlan(ctx, fsys, stored) // looks once at each file, for what has changed since
		fsys.opened.Store(0)
		return p, err
	}})
	for _, at := range []string{"", "?page=57", "?page=100"} {
		if at != "" {
			fsys.opened.Store(0)
			if err := s.Get(at); err != nil {
				t.Fatal(err)
			}
		}
		shown, opened := strings.Count(s.Page, `<div class="file"`), fsys.opened.Load()
		if shown != 100 || opened != 100 {
			t.Errorf("page %q shows %d files, and has opened %d", at, shown, opened)
		}
	}
}

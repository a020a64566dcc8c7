package web_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/cmd/millrace/internal/webtest"
	"github.com/millrace-go/millrace/fsutil"
)

// counted counts the opened files.
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

// A page of a plan of 10,000 files opens only the files of that page.
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
		p, err := x.OpenPlan(ctx, fsys, stored) // compares each file with the plan once
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
			t.Errorf("page %q shows %d files, and opens %d", at, shown, opened)
		}
	}
}

// A file whose lines are too long to be shown is taken as a whole, because its hunks have no boxes.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("'", 100<<10)+" one\n", 36) // much longer as HTML
	s := serve(t, millrace.Executor{}, map[string]string{"a": long})
	home := s.At
	action, values, err := s.Form()
	if err := errors.Join(err, s.Get("lines/0")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Page, "too long to be shown") {
		t.Fatalf("%d bytes of lines are shown", len(s.Page))
	}
	if strings.Contains(s.Page, `value="0.0"`) {
		values.Add("shown", "0.0") // the script puts the lines into the form
	}
	values.Set("do", "apply")
	s.At = home
	if err := s.Post(action, values); err != nil || s.Heading() != "The change was made" {
		t.Errorf("%q: %v", s.Heading(), err)
	}
	s.holds(map[string]string{"a": strings.ReplaceAll(long, "one", "two")})
}

// A page can have more hunks than ParseForm reads fields.
func TestManyHunks(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": strings.Repeat(words, 6000)})
	home := s.At
	if err := s.Get("file/0"); err != nil {
		t.Fatal(err)
	}
	s.press(200, "words", "show:0", "0.5999")
	s.At = home
	if err := s.Get("file/0"); err != nil {
		t.Fatal(err)
	}
	_, values, err := s.Form()
	if shown, taken := len(values["shown"]), len(values["take"]); err != nil || shown < 6000 || taken != shown-1 {
		t.Errorf("%d of %d parts are taken: %v", taken, shown, err)
	}
}

// BenchmarkPage has a plan of 10,000 files of code. "open" is the time from the call to the first page, "again" the
// time of a page that was shown before.
func BenchmarkPage(b *testing.B) {
	root, err := fsutil.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	text := strings.Repeat("func f() error { return nil } // of one\n", 20)
	for i := range 10_000 {
		dir := fmt.Sprintf("d%02d", i%100)
		err := errors.Join(root.MkdirAll(dir, 0o755),
			afero.WriteFile(root, fmt.Sprintf("%s/f%04d.go", dir, i), []byte(text), 0o644))
		if err != nil {
			b.Fatal(err)
		}
	}
	var x millrace.Executor
	plan, err := x.Plan(b.Context(), root, millrace.New("words").
		Step("fix", actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}}).MustBuild())
	if err != nil {
		b.Fatal(err)
	}
	defer plan.Close()
	stored, err := plan.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	open := func() (*webtest.Visitor, func()) {
		ctx, cancel := context.WithCancel(b.Context())
		address, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- web.Decide(ctx, "127.0.0.1:0", web.Plan{Open: func(ctx context.Context) (*millrace.Plan, error) {
				return x.OpenPlan(ctx, root, stored)
			}}, func(a string) { address <- a })
		}()
		v, err := webtest.Open(<-address)
		if err != nil || v.Status != 200 || strings.Count(v.Page, `<div class="file"`) != 100 {
			b.Fatalf("status %d: %v", v.Status, err)
		}
		return v, func() {
			v.Client.CloseIdleConnections()
			cancel()
			<-ended
		}
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			_, closing := open()
			b.StopTimer()
			closing()
			b.StartTimer()
		}
	})
	b.Run("again", func(b *testing.B) {
		v, closing := open()
		defer closing()
		for b.Loop() {
			if err := v.Get("./"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(v.Page)), "bytes/page")
	})
}

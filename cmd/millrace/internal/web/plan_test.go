package web_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/cmd/millrace/internal/webtest"
	"github.com/millrace-go/millrace/fsutil"
)

// served is a plan and its page.
type served struct {
	t    *testing.T
	dir  string
	root *fsutil.RootFs
	// stored is the plan that a request opens.
	stored []byte
	*webtest.Visitor
	address string
	ended   chan error
	// making is called before a change is made, if it is not nil.
	making func()
	stop   func() // ends the server
	// failing is the error of making a change.
	failing error
}

// words is a text with "one" in its first and its last line.
const words = "one 1\na\nb\nc\nd\ne\nf\ng\nh\none 2\n"

// serve plans to replace each "one" with "two" in these files, and opens the page of the plan.
func serve(t *testing.T, x millrace.Executor, files map[string]string) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), ended: make(chan error, 1)}
	for name, text := range files {
		s.write(name, text)
	}
	var err error
	if s.root, err = fsutil.OpenRoot(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.root.Close() })
	s.plan(x, actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}})
	s.open(x)
	return s
}

// plan stores the plan of a step.
func (s *served) plan(x millrace.Executor, a actions.Action) {
	s.t.Helper()
	plan, err := x.Plan(s.t.Context(), s.root, millrace.New("words").Step("fix", a).MustBuild())
	if err != nil {
		s.t.Fatal(err)
	}
	defer plan.Close()
	if s.stored, err = plan.MarshalJSON(); err != nil {
		s.t.Fatal(err)
	}
}

// open serves the page of the stored plan until the test ends, and visits it.
func (s *served) open(x millrace.Executor) {
	s.t.Helper()
	s.decide(web.Plan{
		Open: func(ctx context.Context) (*millrace.Plan, error) { return x.OpenPlan(ctx, s.root, s.stored) },
		Make: func(ctx context.Context, plan *millrace.Plan) (string, error) {
			if s.making != nil {
				s.making()
			}
			result, err := plan.Commit(ctx)
			return result.String(), errors.Join(err, s.failing)
		},
	})
}

// decide serves the page of a plan until the test ends, and visits it.
func (s *served) decide(plan web.Plan) {
	s.t.Helper()
	s.visit(func(ctx context.Context, ready func(address string)) error {
		return web.Decide(ctx, "127.0.0.1:0", plan, ready)
	})
}

// visit serves pages until the test ends, and visits the first.
func (s *served) visit(serve func(ctx context.Context, ready func(address string)) error) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	address, stopped := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(stopped)
		s.ended <- serve(ctx, func(a string) { address <- a })
	}()
	s.t.Cleanup(func() {
		cancel()
		<-stopped
	})
	select {
	case s.address = <-address:
	case err := <-s.ended:
		s.t.Fatal(err)
	}
	var err error
	if s.Visitor, err = webtest.Open(s.address); err != nil {
		s.t.Fatal(err)
	}
	if s.Status != 200 {
		s.t.Fatalf("status %d:\n%s", s.Status, s.Page)
	}
}

func (s *served) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// press presses a button, and checks the answer.
func (s *served) press(status int, heading, button string, leave ...string) {
	s.t.Helper()
	if err := s.Press(button, leave...); err != nil {
		s.t.Fatal(err)
	}
	if s.Status != status || s.Heading() != heading {
		s.t.Fatalf("status %d, %q:\n%s", s.Status, s.Heading(), s.Page)
	}
}

// holds checks the texts of files.
func (s *served) holds(files map[string]string) {
	s.t.Helper()
	for name, want := range files {
		have, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || string(have) != want {
			s.t.Errorf("%s is %q, not %q: %v", name, have, want, err)
		}
	}
}

// end checks the error with which the server ends.
func (s *served) end(want error) {
	s.t.Helper()
	if err := <-s.ended; !errors.Is(err, want) {
		s.t.Errorf("the server ends with %v, not %v", err, want)
	}
}

// The ticked hunks are committed, the other hunks are left out.
func TestApply(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words, "b": words, "c": words})
	s.press(200, "The change was made", "apply", "0.0", "1")
	s.end(nil)
	s.holds(map[string]string{
		"a": strings.Replace(words, "one 2", "two 2", 1), "b": words, "c": strings.ReplaceAll(words, "one", "two"),
	})
}

func TestReject(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	s.press(200, "The plan was rejected", "reject")
	s.end(web.ErrRejected)
	s.holds(map[string]string{"a": words})
}

// An error after which the tree has changed is not shown as a change that was not made.
func TestMadeWithError(t *testing.T) {
	t.Parallel()
	failed := errors.New("it failed")
	for want, err := range map[string]error{
		"The change was not made":                        &millrace.CommitError{Err: failed},
		"The tree must be recovered":                     &millrace.CommitError{State: millrace.CommitPending, Err: failed},
		"The change was made without a step that failed": &millrace.StepError{Committed: true, Err: failed},
	} {
		s := serve(t, millrace.Executor{}, map[string]string{"a": words})
		s.failing = err
		s.press(200, want, "apply")
		s.end(err)
		if strings.Contains(s.Page, "millrace recover") != (want == "The tree must be recovered") ||
			!strings.Contains(s.Page, "it failed") {
			t.Errorf("%s:\n%s", want, s.Page)
		}
	}
}

// The server waits for a commit, even if the commit takes longer than the time that the server has to end.
func TestStoppedInCommit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 16 seconds")
	}
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	action, values, err := s.Form()
	if err != nil {
		t.Fatal(err)
	}
	values.Set("do", "apply")
	made := false
	s.making = func() {
		s.stop()
		time.Sleep(16 * time.Second)
		made = true
	}
	_ = s.Post(action, values) // the connection may be closed before the answer
	if err := <-s.ended; !made {
		t.Errorf("the server has ended before the commit: %v", err)
	}
}

// Choices are kept from page to page. The lines of a folded file are on a separate page.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 250 {
		files[fmt.Sprintf("f%03d", i)] = words
	}
	s := serve(t, millrace.Executor{}, files)
	if n := strings.Count(s.Page, `<div class="file"`); n != 100 || !strings.Contains(s.Page, "Page 1 of 3") {
		t.Fatalf("the page has %d files", n)
	}
	s.press(200, "words", "page:3", "7", "8.1")
	if !strings.Contains(s.Page, "f249") || strings.Contains(s.Page, "f199") {
		t.Fatalf("want the third page:\n%s", s.Page)
	}
	if err := s.Get("file/210"); err != nil {
		t.Fatal(err)
	}
	s.press(200, "words", "show:210", "210.0")
	s.press(200, "words", "page:1")
	_, values, err := s.Form()
	if err != nil {
		t.Fatal(err)
	}
	if has := strings.Join(values["take"], " "); !strings.Contains(has+" ", " 6 6.0 6.1 7.0 7.1 8 8.0 9 ") {
		t.Errorf("the ticked boxes are %s", has)
	}
	s.press(409, "This needs the word yes", "apply") // the risk of so many files is high
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	s.Word = "yes"
	s.press(200, "The change was made", "apply")
	s.end(nil)
	two := strings.ReplaceAll(words, "one", "two")
	s.holds(map[string]string{
		"f006": two, "f007": words, "f008": strings.Replace(words, "one 1", "two 1", 1), "f009": two, "f249": two,
		"f210": strings.Replace(words, "one 2", "two 2", 1),
	})
}

// Package drawn draws random input for tests: an action that plays a part, small trees, and pipelines with all kinds of
// jumps.
package drawn

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Play is an action defined by data: each attempt adds a line to a file and does what its next word demands. The last
// word is repeated. The words are "ok", "fail", "final" (a permanent failure), "panic", "say TEXT", "faulty TEXT"
// (output the text and fail). The tape of the run has the position of the next word.
type Play struct {
	Words []string `json:"words" param:"required"`
	Mark  string   `json:"mark,omitempty"`
	File  string   `json:"file,omitempty"`
}

// Tape records the plays of one run: the words of each step.
type Tape struct {
	mu   sync.Mutex
	Said map[string][]string // by step; must not be read during the run
	Most int                 // maximum number of concurrent plays
	now  int
}

type tapeKey struct{}

// Taped returns a context with a new tape, for one run.
func Taped(ctx context.Context) (context.Context, *Tape) {
	t := &Tape{Said: make(map[string][]string)}
	return context.WithValue(ctx, tapeKey{}, t), t
}

func (t *Tape) next(step string, words []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := words[min(len(t.Said[step]), len(words)-1)]
	t.Said[step] = append(t.Said[step], said)
	return said
}

func (t *Tape) playing(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now += n
	t.Most = max(t.Most, t.now)
}

// Watcher is a play that only reads.
type Watcher struct {
	Play
}

// Spec describes the action.
func (Watcher) Spec() actions.Spec {
	return actions.Spec{Name: "watch", Summary: "Play a part and write nothing", ReadOnly: true}
}

// Spec describes the action.
func (Play) Spec() actions.Spec { return actions.Spec{Name: "play", Summary: "Play a part"} }

// Touches implements [actions.Toucher], so that plays with different files can run at the same time.
func (p Play) Touches() (reads, writes []string, known bool) {
	if p.File == "" {
		return nil, nil, true
	}
	return nil, []string{p.File, path.Dir(p.File)}, true
}

// Run plays the part.
func (p Play) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	t := ctx.Value(tapeKey{}).(*Tape)
	said := t.next(c.Step, p.Words)
	t.playing(1)
	defer t.playing(-1)
	runtime.Gosched()
	var out actions.Outcome
	if p.File != "" {
		old, err := afero.ReadFile(c.FS, p.File)
		if err != nil {
			old = nil
		}
		if err := c.FS.MkdirAll(path.Dir(p.File), 0o755); err != nil {
			return out, err
		}
		if err := afero.WriteFile(c.FS, p.File, append(old, []byte(p.Mark+": "+said+"\n")...), 0o644); err != nil {
			return out, err
		}
		out.Files, out.Edits = []string{p.File}, 1
	}
	verb, text, _ := strings.Cut(said, " ")
	out.Output = text
	switch verb {
	case "fail", "faulty":
		return actions.Outcome{Output: text}, errors.New("it does not work")
	case "final":
		return actions.Outcome{}, actions.Permanent(errors.New("it never works"))
	case "panic":
		panic("it breaks")
	}
	return out, nil
}

// The generators are made for each use: two tests must not share a generator.
func file() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "d/c", "d/e"})
}

func word() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"ok", "ok", "ok", "ok", "ok", "say again", "say again", "say again", "say again", "fail", "fail",
		"faulty again", "final", "panic",
	})
}

// Tree draws a small tree.
func Tree(t *rapid.T) []txtarfs.File {
	var files []txtarfs.File
	for _, name := range rapid.SliceOfNDistinct(file(), 1, 3, rapid.ID).Draw(t, "files") {
		files = append(files, txtarfs.File{Name: name,
			Data: []byte(strings.Repeat("foo bar\n", rapid.IntRange(0, 3).Draw(t, "lines")))})
	}
	return files
}

// Pipeline draws a pipeline with all kinds of jumps.
func Pipeline(t *rapid.T) millrace.Pipeline {
	n := rapid.IntRange(2, 8).Draw(t, "steps")
	chance := func(one int, what string) bool { return rapid.IntRange(1, one).Draw(t, what) == 1 }
	b := millrace.New("random").Options(millrace.Options{ContinueOnError: chance(4, "continue")})
	if chance(5, "few") {
		b = b.MaxAttempts(rapid.IntRange(1, 12).Draw(t, "max_attempts"))
	}
	id := func(i int) string { return fmt.Sprintf("s%d", i) }
	steps, targets := make([]millrace.Step, n), make(map[string]bool)
	for i := range steps {
		s := millrace.Step{ID: id(i), Action: Action(t, i)}
		earlier := func(what string) string { return id(rapid.IntRange(0, i-1).Draw(t, what)) }
		later := func(what string) string { return id(rapid.IntRange(i+1, n-1).Draw(t, what)) }
		if i > 0 && chance(4, "condition") {
			s.When = rapid.SampledFrom([]condition.Condition{
				condition.PrevError(), condition.PrevError(), condition.StepFailed(earlier("failed")),
				condition.StepSucceeded(earlier("ok")),
				condition.FileExists(file().Draw(t, "exists")),
			}).Draw(t, "when")
		}
		if i < n-1 && chance(2, "jumps on failure") {
			s.OnFail = later("on_fail")
		}
		if i < n-1 && chance(4, "jumps") {
			s.Next = later("next")
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "ways back") {
			way := millrace.Retry{Step: id(rapid.IntRange(0, i).Draw(t, "back")), Keyword: "again",
				Restart: chance(3, "restart")}
			if chance(3, "when") {
				way.Keyword, way.When = "", rapid.SampledFrom([]condition.Condition{
					condition.StepFailed(id(i)), condition.PrevError(), condition.FileExists(file().Draw(t, "exists")),
				}).Draw(t, "back when")
			}
			s.RetryIf, targets[way.Step] = append(s.RetryIf, way), true
		}
		if chance(2, "tries again") {
			retries := rapid.IntRange(0, 2).Draw(t, "max_retries")
			s.MaxRetries = &retries
		}
		steps[i] = s
	}
	for _, s := range steps {
		if targets[s.ID] && (chance(2, "bounded") || s.MaxRetries != nil && *s.MaxRetries == 0) {
			s.MaxVisits = rapid.IntRange(2, 6).Draw(t, "max_visits")
		}
		b = b.Add(s).Builder
	}
	p, err := b.Build()
	if err != nil {
		t.Fatalf("the generator made an invalid pipeline: %v", err)
	}
	return p
}

// Action draws the action of step i.
func Action(t *rapid.T, i int) actions.Action {
	name := file().Draw(t, "file")
	switch rapid.IntRange(0, 7).Draw(t, "action") {
	case 0:
		return actions.Edit{Files: []string{name}, OldText: "foo", NewText: "foo bar"}
	case 1:
		return actions.Delete{Files: []string{name}, Permanent: true}
	case 2:
		return actions.Create{Path: name, Content: "foo\n"}
	default:
		return Play{Words: rapid.SliceOfN(word(), 1, 4).Draw(t, "words"), Mark: fmt.Sprintf("s%d", i), File: name}
	}
}

// Parallel draws a pipeline whose steps can run at the same time, unless they conflict.
func Parallel(t *rapid.T) millrace.Pipeline {
	b := millrace.New("parallel").Options(
		millrace.Options{ContinueOnError: rapid.IntRange(1, 3).Draw(t, "continue") == 1,
			Parallel: true})
	n := rapid.IntRange(2, 6).Draw(t, "steps")
	for i := range n {
		s := millrace.Step{ID: fmt.Sprintf("s%d", i), Action: Action(t, i)}
		if words, ok := s.Action.(Play); ok && rapid.Bool().Draw(t, "reads") {
			s.Action = Watcher{Play{Words: words.Words}}
		}
		if i > 0 && rapid.IntRange(1, 4).Draw(t, "condition") == 1 {
			s.When = condition.StepFailed(fmt.Sprintf("s%d", rapid.IntRange(0, i-1).Draw(t, "failed")))
		}
		if retries := rapid.IntRange(0, 3).Draw(t, "max_retries"); retries > 0 {
			s.MaxRetries = &retries
		}
		b = b.Add(s).Builder
	}
	return b.MustBuild()
}

// Words returns the words of a step so far.
func (t *Tape) Words(step string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.Said[step])
}

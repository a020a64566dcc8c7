package steering_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// play is an action that is data alone: at each attempt it adds a line to a file and does what the next of its words
// says, the last again and again: "ok", "fail", "final" (a failure that stays), "panic", "say TEXT", "faulty TEXT" (say
// it and fail). Which word is next stands on the tape of the run.
type play struct {
	Words []string `json:"words" param:"required"`
	Mark  string   `json:"mark,omitempty"`
	File  string   `json:"file,omitempty"`
}

// tape is what the plays of one run have done: the words of each step.
type tape struct {
	mu   sync.Mutex
	said map[string][]string
	now  int // plays that are going on
	most int // at the same time
}

type tapeKey struct{}

// taped returns a context with a tape, which may serve one run.
func taped(ctx context.Context) (context.Context, *tape) {
	t := &tape{said: make(map[string][]string)}
	return context.WithValue(ctx, tapeKey{}, t), t
}

func (t *tape) next(step string, words []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	word := words[min(len(t.said[step]), len(words)-1)]
	t.said[step] = append(t.said[step], word)
	return word
}

func (t *tape) playing(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now += n
	t.most = max(t.most, t.now)
}

// watcher is a play that only reads.
type watcher struct {
	play
}

// Spec describes the action.
func (watcher) Spec() actions.Spec {
	return actions.Spec{Name: "watch", Summary: "Play a part and write nothing", ReadOnly: true}
}

// Spec describes the action.
func (play) Spec() actions.Spec { return actions.Spec{Name: "play", Summary: "Play a part"} }

// Touches implements [actions.Toucher], so that plays with different files can run at the same time.
func (p play) Touches() (reads, writes []string, known bool) {
	if p.File == "" {
		return nil, nil, true
	}
	return nil, []string{p.File, path.Dir(p.File)}, true
}

// Run plays the part.
func (p play) Run(ctx context.Context, c *actions.Call) (actions.Outcome, error) {
	t := ctx.Value(tapeKey{}).(*tape)
	word := t.next(c.Step, p.Words)
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
		if err := afero.WriteFile(c.FS, p.File, append(old, []byte(p.Mark+": "+word+"\n")...), 0o644); err != nil {
			return out, err
		}
		out.Files, out.Edits = []string{p.File}, 1
	}
	verb, text, _ := strings.Cut(word, " ")
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

// The generators are made anew for each use: one generator must not be used by two tests at the same time.
func genFile() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "d/c", "d/e"})
}

func genWord() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"ok", "ok", "ok", "ok", "ok", "say again", "say again", "say again", "say again", "fail", "fail", "faulty again", "final", "panic",
	})
}

// drawTree draws a small tree.
func drawTree(t *rapid.T) []txtarfs.File {
	var files []txtarfs.File
	for _, name := range rapid.SliceOfNDistinct(genFile(), 1, 3, rapid.ID).Draw(t, "files") {
		files = append(files, txtarfs.File{Name: name, Data: []byte(strings.Repeat("foo bar\n", rapid.IntRange(0, 3).Draw(t, "lines")))})
	}
	return files
}

// drawPipeline draws a pipeline that jumps in all ways there are.
func drawPipeline(t *rapid.T) millrace.Pipeline {
	n := rapid.IntRange(2, 8).Draw(t, "steps")
	chance := func(one int, what string) bool { return rapid.IntRange(1, one).Draw(t, what) == 1 }
	b := millrace.New("random").Options(millrace.Options{ContinueOnError: chance(4, "continue")})
	if chance(5, "few") {
		b = b.MaxSteps(rapid.IntRange(1, 12).Draw(t, "max_steps"))
	}
	id := func(i int) string { return fmt.Sprintf("s%d", i) }
	steps, targets := make([]millrace.Step, n), make(map[string]bool)
	for i := range steps {
		s := millrace.Step{ID: id(i), Action: drawAction(t, i)}
		earlier := func(what string) string { return id(rapid.IntRange(0, i-1).Draw(t, what)) }
		later := func(what string) string { return id(rapid.IntRange(i+1, n-1).Draw(t, what)) }
		if i > 0 && chance(4, "condition") {
			s.When = rapid.SampledFrom([]condition.Condition{
				condition.PrevError(), condition.PrevError(), condition.StepFailed(earlier("failed")), condition.StepSucceeded(earlier("ok")),
				condition.FileExists(genFile().Draw(t, "exists")),
			}).Draw(t, "when")
		}
		if i < n-1 && chance(2, "jumps on failure") {
			s.OnFail = later("on_fail")
		}
		if i < n-1 && chance(4, "jumps") {
			s.Next = later("next")
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "ways back") {
			way := millrace.Retry{Step: id(rapid.IntRange(0, i).Draw(t, "back")), Keyword: "again", Restart: chance(3, "restart")}
			if chance(3, "when") {
				way.Keyword, way.When = "", rapid.SampledFrom([]condition.Condition{
					condition.StepFailed(id(i)), condition.PrevError(), condition.FileExists(genFile().Draw(t, "exists")),
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

func drawAction(t *rapid.T, i int) actions.Action {
	file := genFile().Draw(t, "file")
	switch rapid.IntRange(0, 7).Draw(t, "action") {
	case 0:
		return actions.Edit{Files: []string{file}, OldText: "foo", NewText: "foo bar"}
	case 1:
		return actions.Delete{Files: []string{file}, Permanent: true}
	case 2:
		return actions.Create{Path: file, Content: "foo\n"}
	default:
		return play{Words: rapid.SliceOfN(genWord(), 1, 4).Draw(t, "words"), Mark: fmt.Sprintf("s%d", i), File: file}
	}
}

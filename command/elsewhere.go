package command

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/millrace-go/millrace/internal/panics"
)

// elsewhere runs a command with the host's Runner. The Runner's output is treated as the output of a command.
func (p Policy) elsewhere(ctx context.Context, c Command, env environment) (Exit, error) {
	whole := p.complete(c, env)
	live := p.printer(c)
	var mu sync.Mutex
	over := false
	whole.OnOutput = func(name, text string) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		s := live.stdout
		if name == "stderr" {
			s = live.stderr
		}
		live.take(s, []byte(text))
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-live.stopped:
			cancel()
		case <-inner.Done():
		}
	}()
	var exit Exit
	err := panics.Protect(func() (err error) {
		exit, err = p.Runner.Run(inner, whole)
		return err
	})
	mu.Lock()
	over = true
	mu.Unlock()
	cancel()
	<-watched
	live.stdout.close()
	live.stderr.close()

	needles := p.needles()
	for _, o := range []*Output{&exit.Stdout, &exit.Stderr} {
		s := newStream(needles, p.keep(c), nil)
		s.write([]byte(o.Text))
		cut := s.close()
		*o = Output{Text: cut.Text, Size: max(o.Size, cut.Size), Truncated: o.Truncated || cut.Truncated}
	}
	exit.Signal = p.Mask(exit.Signal)
	exit.Sandbox = maps.Clone(exit.Sandbox)
	for part, what := range exit.Sandbox {
		exit.Sandbox[part] = p.Mask(what)
	}
	switch {
	case live.err() != nil:
		return exit, live.err()
	case ctx.Err() != nil:
		return exit, ctx.Err()
	case err != nil:
		return exit, fmt.Errorf("the host's command runner failed: %w", err)
	}
	return exit, nil
}

package agent

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// saidError is an answer that reports the agent's failure.
type saidError struct{ text string }

func (e *saidError) Error() string { return e.text }

// answer reads the JSON that a program has printed. It returns the reported costs even with an error. mask hides
// secrets, which JSON can write in several ways.
func answer(printed command.Output, mask func(string) string) (Reply, error) {
	if printed.Truncated {
		return Reply{}, fmt.Errorf("its answer is too long (%d bytes): raise MaxOutput of its policy", printed.Size)
	}
	root, err := strictjson.Parse([]byte(printed.Text), strictjson.Limits{MaxBytes: len(printed.Text) + 1})
	if err != nil {
		return Reply{}, fmt.Errorf("its answer is not JSON: %w", err)
	}
	if root.Kind != strictjson.Object {
		return Reply{}, fmt.Errorf("its answer must be an object, got %s", root.Kind)
	}
	var reply Reply
	wrong := make([]error, 0, 1)
	is := func(n *strictjson.Node, name string, kind strictjson.Kind) bool {
		if n == nil || n.Kind == strictjson.Null {
			return false
		}
		if n.Kind != kind {
			wrong = append(wrong, fmt.Errorf("%s in its answer must be %s, got %s", name, kind, n.Kind))
		}
		return n.Kind == kind
	}
	if n := root.Get("total_cost_usd"); is(n, "total_cost_usd", strictjson.Number) {
		dollars, err := strconv.ParseFloat(n.Number, 64)
		if err == nil {
			reply.Cost, err = budget.FromFloat(dollars)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("total_cost_usd in its answer: %w", err))
		}
	}
	if n := root.Get("model"); is(n, "model", strictjson.String) {
		reply.Model = mask(n.Text)
	}
	if usage := root.Get("usage"); is(usage, "usage", strictjson.Object) {
		reply.InputTokens, reply.OutputTokens = tokens(usage, "input_tokens"), tokens(usage, "output_tokens")
	}
	result := root.Get("result")
	if is(result, "result", strictjson.String) {
		reply.Output = mask(result.Text)
	}
	failed := root.Get("is_error")
	switch {
	case is(failed, "is_error", strictjson.Bool) && failed.Bool:
		if reply.Output == "" {
			return reply, &saidError{"it reports a failure"}
		}
		return reply, &saidError{head(reply.Output, mostShown)}
	case len(wrong) > 0:
		return reply, wrong[0]
	case result == nil || result.Kind == strictjson.Null:
		return reply, errors.New("its answer has no result")
	}
	return reply, nil
}

// tokens returns a token count for information, 0 if it is not a whole number.
func tokens(usage *strictjson.Node, name string) int64 {
	n := usage.Get(name)
	if n == nil || n.Kind != strictjson.Number {
		return 0
	}
	count, _ := strconv.ParseInt(n.Number, 10, 64)
	return count
}

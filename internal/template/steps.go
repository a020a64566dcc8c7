package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/show"
)

// The two ways to name a step by its position.
const (
	stepPrefix  = "step"  // step1, from 1
	stepsPrefix = "steps" // steps[0], from 0
)

// Steps returns the [Known] for the step at position at, counted from 0, in a pipeline whose steps have the given ids.
// Each step has the fields of [ResultFields] and no data. See [Roots].
func Steps(ids []string, at int) Known {
	steps := make([]Root, len(ids))
	fields := ResultFields()
	for i, id := range ids {
		steps[i] = Root{Name: id, Fields: fields}
	}
	return Roots(steps, at)
}

// Roots returns the [Known] for the step at position at, counted from 0, in a pipeline with these steps. A reference
// names a step by its id. All ids are known, even of the step itself and of later steps: a reference to them is a
// mistake to report, not text. Any other word can name another root, or an earlier step by its position: "step1" and
// "steps[0]" are both the first step. Numbers have no leading zeros.
func Roots(steps []Root, at int, others ...Root) Known {
	named := make(map[string]Root, len(others)+len(steps))
	for _, root := range slices.Concat(others, steps) { // steps come last, so they override others
		named[root.Name] = root
	}
	earlier := slices.Clone(steps[:max(0, min(at, len(steps)))])
	return func(name string) (Root, bool) {
		if root, ok := named[name]; ok {
			return root, true
		}
		i, ok := position(name)
		if !ok || i < 0 || i >= len(earlier) {
			return Root{}, false
		}
		return earlier[i], true
	}
}

// position returns the position, from 0, that a root such as "step1" or "steps[0]" names.
func position(root string) (int, bool) {
	first := 0
	number, ok := strings.CutPrefix(root, stepsPrefix+"[")
	if ok {
		number = strings.TrimSuffix(number, "]")
	} else if number, ok = strings.CutPrefix(root, stepPrefix); ok {
		first = 1
	} else {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	if err != nil || strconv.Itoa(n) != number {
		return 0, false
	}
	return n - first, true
}

// NearMisses returns a suspicion for each piece of text that looks like a reference to a step that does not exist, if
// its id resembles a given id. It also returns the suspicions of [Text.Unclosed]. Such text stays unchanged. Beyond
// 1,000 pieces, only the first of each name counts.
func (t Text) NearMisses(ids []string) []Problem {
	problems := t.Unclosed(ids)
	for _, c := range t.foreign {
		near, ok := nearest.Of(c.base, ids)
		if !ok {
			continue
		}
		source := t.source[c.start:c.end]
		problems = append(problems, Problem{
			Source: source, Offset: c.start, Code: "near_miss",
			Message: fmt.Sprintf("template '%s': there is no step '%s', so this stays as it is", source, c.base),
			Hint:    fmt.Sprintf("did you mean '%s'?", near),
		})
	}
	return problems
}

// Unclosed returns a suspicion for each reference to a known id, or to a position, that lacks a closing brace, but at
// most 1,000.
func (t Text) Unclosed(ids []string) (problems []Problem) {
	for at, rest := 0, t.source; ; {
		_, after, found := strings.Cut(rest, "{{")
		if !found || len(problems) == mostForeign {
			return problems
		}
		at, rest = at+len(rest)-len(after), after
		inner := after
		if n := strings.IndexAny(after, "{}\r\n"); n >= 0 {
			inner = after[:n]
		}
		base, field, ok := strings.Cut(strings.TrimLeft(inner, blanks), ".")
		length := 0
		for length < len(field) && (idByte(field[length]) || strings.IndexByte(".[]", field[length]) >= 0) {
			length++
		}
		if !ok || length == 0 || strings.HasPrefix(after[len(inner):], "}}") {
			continue
		}
		if _, isPosition := position(base); !isPosition && !slices.Contains(ids, base) {
			continue
		}
		problems = append(problems, Problem{
			Source: "{{" + inner, Offset: at - 2, Code: "near_miss",
			Message: fmt.Sprintf("'{{%s' has no closing braces, so this stays as it is", show.Name(inner)),
			Hint:    fmt.Sprintf("write {{%s.%s}}", base, field[:length]),
		})
	}
}

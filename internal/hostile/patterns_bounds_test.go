package hostile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
)

// A pattern is refused before the run if compiling it would overflow the stack, or cost minutes and gigabytes.
func TestHostile_patterns_too_large_to_compile_are_refused(t *testing.T) {
	t.Parallel()
	deep, wide := strings.Repeat("(", 2<<20), strings.Repeat("a{1000}", 3200)
	patterns := make([]obj, 6)
	for i := range patterns {
		patterns[i] = obj{"pattern": strings.Repeat("a{1000}", 90), "replacement": "x"}
	}
	sed := func(script, syntax string) obj {
		return act("pattern_replace", obj{"file_pattern": "*", "sed_pattern": "s/" + script + "/x/", "syntax": syntax})
	}
	for what, test := range map[string]struct {
		step        obj
		code, param string
	}{
		"nested ere":         {sed(deep, "ere"), "bad_script", "/sed_pattern/0"},
		"nested bre":         {sed(strings.ReplaceAll(deep, "(", `\(`), "bre"), "bad_script", "/sed_pattern/0"},
		"nested re2":         {sed(deep, "re2"), "bad_script", "/sed_pattern/0"},
		"nested, but short":  {sed(deep[:5000], "ere"), "bad_script", "/sed_pattern/0"},
		"wide re2 in sed":    {sed(wide, "re2"), "bad_script", "/sed_pattern/0"},
		"wide":               {act("search", obj{"pattern": wide, "mode": "regex"}), "bad_pattern", "/pattern"},
		"several wide":       {act("regex_transform", obj{"files": []string{"a"}, "patterns": patterns}), "bad_pattern", "/patterns"},
		"ranges in any case": {act("search", obj{"pattern": strings.Repeat(`[B-\x{1E940}]`, 4000), "mode": "regex", "ignore_case": true}), "bad_pattern", "/pattern"},
		"braces in a glob":   {act("list", obj{"exclude": []string{strings.Repeat("{,?}", 26) + "!"}}), "bad_glob", "/exclude/0"},
		"braces in a file_pattern": {
			act("pattern_replace", obj{"file_pattern": strings.Repeat("{", 3000) + strings.Repeat("}", 1000), "sed_pattern": "p"}), "bad_glob", "/file_pattern",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			within(t, patience, func(context.Context) {
				wantProblem(t, decodeBad(t, millrace.Decoder{}, pipeline(t, test.step)), test.code, "/steps/0/params"+test.param)
			})
		})
	}
}

// A single match, or a single line of a script, would run for minutes.
func TestHostile_a_single_match_meets_the_deadline(t *testing.T) {
	t.Parallel()
	steps := regexSteps(strings.Repeat(`(?:x?){1000}`, 6) + `\d`)
	for _, syntax := range []string{"ere", "re2"} {
		steps = append(steps, act("pattern_replace", obj{"file_pattern": "*", "sed_pattern": "s/x.*y|x/z/g", "syntax": syntax}, id("sed_"+syntax)))
	}
	for _, s := range steps {
		t.Run(s["id"].(string), func(t *testing.T) {
			eachBackend(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"large.txt": strings.Repeat("x", 300<<10)})
				before := b.snapshot(t)
				p := decoded(t, s)
				within(t, patience, func(context.Context) {
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					defer cancel()
					if _, err := host().Run(ctx, b.fs, p); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("want an exceeded deadline, got %v", err)
					}
				})
				b.unchanged(t, before)
			})
		})
	}
}

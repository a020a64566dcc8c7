package hostile_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// regexSteps returns the steps that use a regular expression on large.txt.
func regexSteps(pattern string) []obj {
	files := []string{"large.txt"}
	return []obj{
		act("search", obj{"pattern": pattern, "mode": "regex"}),
		act("count_occurrences", obj{"files": files, "pattern": pattern, "mode": "regex"}),
		act("edit", obj{"files": files, "old_text": pattern, "new_text": "x", "mode": "regex"}),
		act("regex_transform", obj{"files": files, "patterns": []obj{{"pattern": pattern, "replacement": "x"}}}),
	}
}

// The time for all matches of this pattern is quadratic: days, without a deadline.
func TestHostile_quadratic_pattern_meets_deadline(t *testing.T) {
	t.Parallel()
	size := fstest.Slowed(1<<16, fstest.Runs(1<<18, 1<<20, 1<<20))
	for _, s := range regexSteps(`.*[^A-Z]|[A-Z]`) {
		t.Run(s["id"].(string), func(t *testing.T) {
			eachBackend(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"large.txt": strings.Repeat("A", size)})
				before := b.snapshot(t)
				p := decoded(t, editFile("a.txt", "needle", "pin", id("first")), s)
				within(t, patience, func(context.Context) { // milliseconds, but other tests run in parallel
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					defer cancel()
					res, err := host().Run(ctx, b.fs, p)
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("want an exceeded deadline, got %v", err)
					}
					if res != nil && res.Success {
						t.Errorf("result is %v", res)
					}
				})
				b.unchanged(t, before)
			})
		})
	}
}

// In an engine that backtracks, these patterns need exponential time.
func TestHostile_nested_repeats(t *testing.T) {
	t.Parallel()
	size := fstest.Slowed(1<<14, fstest.ByItself(1<<18, 1<<20))
	for pattern, tail := range map[string]string{`(a+)+$`: "!", `(a|a)*b`: "", `(.*)*x`: ""} {
		t.Run(pattern, func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				b.plant(t, map[string]string{"large.txt": strings.Repeat("a", size) + tail})
				res, err := b.runOn(t, host(), regexSteps(pattern)...)
				if err != nil {
					t.Fatal(err)
				}
				want := len(regexp.MustCompile(pattern).FindAllStringIndex(strings.Repeat("a", size)+tail, -1))
				if got := res.Results[1].Counts["large.txt"]; got != want {
					t.Errorf("counted %d, want %d", got, want)
				}
			})
		})
	}
}

func TestHostile_patterns_that_are_too_large(t *testing.T) {
	t.Parallel()
	// Nothing runs, so the file system does not matter.
	for what, pattern := range map[string]string{
		"repeat":        `a{1001}`,
		"nested repeat": `((a{100}){100}){100}`,
		"parens":        strings.Repeat("(", 1001) + "a" + strings.Repeat(")", 1001),
		"long":          strings.Repeat("ab|", 100<<10/3) + "c",
		"open":          strings.Repeat("(", 1000),
		"class":         "[" + strings.Repeat("a-", 1<<10),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for i, param := range []string{"/pattern", "/pattern", "/old_text", "/patterns/0/pattern"} {
				err := decodeBad(t, millrace.Decoder{}, pipeline(t, regexSteps(pattern)[i]))
				wantProblem(t, err, "bad_pattern", "/steps/0/params"+param)
				if err != nil && len(err.Error()) > 4<<10 {
					t.Errorf("the message has %d bytes", len(err.Error()))
				}
			}
		})
	}
}

// A host may lower the limit. A longer pattern is then not compiled, even if a template produces it.
func TestHostile_patterns_over_their_length(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"large.txt": strings.Repeat("a", 2000)})
		before := b.snapshot(t)
		x := host()
		x.Limits.MaxPatternBytes = 1000
		read := act("read_ranges", obj{"files": []string{"large.txt"}})
		joined := act("aggregate", obj{}, obj{"input_from_all": []string{"read_ranges", "again"}})
		for _, pattern := range []string{strings.Repeat("a", 1001), "{{aggregate.aggregated_content}}"} {
			for _, s := range regexSteps(pattern) {
				_, err := b.runOn(t, x, read, act("read_ranges", obj{"files": []string{"large.txt"}}, id("again")), joined, s)
				_, isStep := errors.AsType[*millrace.StepError](err)
				_, isPattern := errors.AsType[*match.PatternError](err)
				_, isLimit := errors.AsType[*actions.LimitError](err)
				_, isExpanded := errors.AsType[*millrace.InterpolationError](err)
				if !isStep || !isPattern && !isLimit && !isExpanded {
					t.Errorf("%s: want a typed error, got %T: %v", s["id"], err, err)
				}
			}
		}
		b.unchanged(t, before)
	})
}

func TestHostile_pattern_that_matches_nothing_everywhere(t *testing.T) {
	t.Parallel()
	const text = "aé\xff\r\n\nxx b\x00\n"
	for _, pattern := range []string{`x*`, `(?m)^`, `(?m)$`, `\b`, `\B`, `a?`, `(?:)`, `()*`, `\z`, `|b`} {
		t.Run(pattern, func(t *testing.T) {
			eachCommitting(t, func(t *testing.T, b *backend) {
				text := strings.ReplaceAll(text, "\x00", "0")
				b.plant(t, map[string]string{"large.txt": text})
				re := regexp.MustCompile(pattern)
				// "\r\n" is a single line end, as documented, but not for package regexp.
				unix := strings.ReplaceAll(text, "\r\n", "\n")
				want := len(re.FindAllStringIndex(unix, -1))
				wantText := strings.Replace(re.ReplaceAllString(unix, "<>"), "\n", "\r\n", 1)
				if pattern != `\z` && strings.HasSuffix(wantText, "\n<>") { // no line follows the last line end
					want, wantText = want-1, strings.TrimSuffix(wantText, "<>")
				}
				res, err := b.runOn(t, host(),
					act("count_occurrences", obj{"files": []string{"large.txt"}, "pattern": pattern, "mode": "regex"}),
					act("edit", obj{"files": []string{"large.txt"}, "old_text": pattern, "new_text": "<>", "mode": "regex"}))
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Results[0].Counts["large.txt"]; got != want {
					t.Errorf("counted %d, want %d", got, want)
				}
				if got := b.content(t, "large.txt"); got != wantText {
					t.Errorf("got %q, want %q", got, wantText)
				}
			})
		})
	}
}

func TestHostile_dollar_in_replacement(t *testing.T) {
	t.Parallel()
	steps := func(replacement string) []obj {
		const pattern = `(al)(?P<rest>pha)`
		return []obj{
			act("edit", obj{"files": []string{"a.txt"}, "old_text": pattern, "new_text": replacement, "mode": "regex"}),
			act("regex_transform", obj{"files": []string{"a.txt"}, "patterns": []obj{{"pattern": pattern, "replacement": replacement}}}),
		}
	}
	for replacement, want := range map[string]string{
		"${1}a": "ala", "$$": "$", "$1": "al", "${rest}": "pha", "$rest": "pha", "$0": "alpha", "$$1": "$1", "${2}${1}": "phaal", "100$": "100$",
	} {
		t.Run(replacement, func(t *testing.T) {
			for i := range min(2, fstest.Runs(1, 1, 2)) {
				eachCommitting(t, func(t *testing.T, b *backend) {
					if _, err := b.runOn(t, host(), steps(replacement)[i]); err != nil {
						t.Fatal(err)
					}
					if got := b.content(t, "a.txt"); got != want+" needle\n" {
						t.Errorf("got %q, want %q", got, want)
					}
				})
			}
		})
	}
	for _, replacement := range []string{"$1a", "$3", "${3}", "$nobody", "${nobody}", "$1_", "$999999999999999999999"} {
		t.Run(replacement, func(t *testing.T) {
			for i, param := range []string{"/new_text", "/patterns/0/replacement"} {
				err := decodeBad(t, millrace.Decoder{}, pipeline(t, steps(replacement)[i]))
				wantProblem(t, err, "bad_replacement", "/steps/0/params"+param)
			}
		})
	}
	// In a literal edit a dollar sign is literal.
	eachCommitting(t, func(t *testing.T, b *backend) {
		b.works(t, editFile("a.txt", "alpha", "$1a ${x} $$"))
		if got := b.content(t, "a.txt"); got != "$1a ${x} $$ needle\n" {
			t.Errorf("got %q", got)
		}
	})
}

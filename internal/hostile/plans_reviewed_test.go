package hostile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

// reviewed returns a plan with a single hunk of two parts, in review.txt.
func reviewed(t *testing.T, b *backend) (*millrace.Plan, millrace.Hunk) {
	t.Helper()
	b.plant(t, map[string]string{"review.txt": "needle\nbetween\nneedle\n", "other.txt": "needle\n"})
	plan := b.plan(t, act("edit", obj{"files": []string{"review.txt"}, "old_text": "needle", "new_text": "pin"}))
	files, err := plan.Files()
	if err != nil || len(files) != 1 || len(files[0].Hunks) != 1 {
		t.Fatal(files, err)
	}
	return plan, files[0].Hunks[0]
}

// A program that shows hunks returns a decision. The hunks in it only identify hunks of the plan: a hunk that is not in
// the plan, byte for byte, is refused.
func TestHostile_a_hunk_that_was_made_up_is_refused(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		plan, good := reviewed(t, b)
		mine := "mine\n"
		for name, forge := range map[string]func(h *millrace.Hunk){
			"context":         func(h *millrace.Hunk) { h.Text = strings.Replace(h.Text, " between", " betweem", 1) },
			"old line":        func(h *millrace.Hunk) { h.Text = strings.Replace(h.Text, "-needle", "-noodle", 1) },
			"new line":        func(h *millrace.Hunk) { h.Text = strings.Replace(h.Text, "+pin", "+gun", 1) },
			"more lines":      func(h *millrace.Hunk) { h.Text += " more\n" },
			"fewer lines":     func(h *millrace.Hunk) { h.Text = h.Text[:strings.Index(h.Text, " ")] },
			"no lines":        func(h *millrace.Hunk) { *h = millrace.Hunk{} },
			"before the file": func(h *millrace.Hunk) { h.OldStart = -1 },
			"far after it":    func(h *millrace.Hunk) { h.OldStart, h.NewStart = math.MaxInt, math.MaxInt },
			"endless":         func(h *millrace.Hunk) { h.OldLines = math.MaxInt },
		} {
			bad := good
			forge(&bad)
			for _, text := range []*string{nil, &mine} {
				if _, err := plan.Revise("review.txt", millrace.Part{Hunk: bad, Text: text}); err == nil {
					t.Errorf("%s: a made-up hunk was accepted", name)
				}
			}
			if lines, parts := bad.Lines(), bad.Split(); len(parts) == 0 || len(lines) > strings.Count(bad.Text, "\n")+1 {
				t.Errorf("%s: %d lines, %d parts", name, len(lines), len(parts))
			}
		}
		bad := good
		bad.By = []change.Origin{{Step: "somebody else"}}
		less, err := plan.Revise("review.txt", millrace.Part{Hunk: bad})
		if err != nil || len(less.Changes()) != 0 {
			t.Errorf("a hunk with another author: %v", err)
		}
		if _, err := plan.Revise("../review.txt", millrace.Part{Hunk: good}); err == nil {
			t.Error("a path outside the tree was accepted")
		}
		if _, err := plan.Revise("other.txt", millrace.Part{Hunk: good, Text: &mine}); err == nil {
			t.Error("a file that the plan does not change was revised")
		}
		if b.content(t, "review.txt") != "needle\nbetween\nneedle\n" || b.content(t, "other.txt") != "needle\n" {
			t.Error("a review has written to the tree")
		}
	})
}

// Another program changes a stored plan that was revised. The text of the review must match its hash, as any other
// text. Two texts never have the same author, even if the number of an edit overflows.
func TestHostile_a_revised_plan_that_was_changed_is_not_committed(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, b *backend) {
		plan, hunk := reviewed(t, b)
		mine := "MINE\nbetween\npin\n"
		revised, err := plan.Revise("review.txt", millrace.Part{Hunk: hunk, Text: &mine})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(revised)
		if err != nil {
			t.Fatal(err)
		}
		before := b.snapshot(t)
		for name, change := range map[string][2]string{
			"text":   {`"text":"TUlORQpiZXR3ZWVuCnBpbgo="`, `"text":"RVZJTApiZXR3ZWVuCnBpbgo="`},
			"offset": {`"off":0`, `"off":1`},
			"length": {`"len":22`, `"len":21`},
		} {
			bad := bytes.Replace(stored, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(bad, stored) {
				t.Fatalf("%s: nothing was changed in %s", name, stored)
			}
			opened, err := host().OpenPlan(t.Context(), b.fs, bad)
			if err != nil {
				continue
			}
			if _, err := opened.Revise("review.txt", millrace.Part{Hunk: hunk}); err == nil {
				t.Errorf("%s: a tampered plan was revised", name)
			}
			if _, err := opened.Commit(t.Context()); err == nil {
				t.Errorf("%s: a tampered plan was committed", name)
			}
			b.unchanged(t, before)
		}
		bad := bytes.Replace(stored, []byte(`"step":"(review)","edit":0`), []byte(`"step":"(review)","edit":9223372036854775807`), 1)
		opened, err := host().OpenPlan(t.Context(), b.fs, bad)
		if err != nil {
			return // refusing the plan is right too
		}
		files, err := opened.Files()
		if err != nil {
			t.Fatal(err)
		}
		again := "MINE\nAGAIN\n"
		if opened, err = opened.Revise("review.txt", millrace.Part{Hunk: files[0].Hunks[0], Text: &again}); err != nil {
			t.Fatal(err)
		}
		if by := opened.Changes()[0].Splices[0].By; len(by) != 1 || by[0].Edit < 0 {
			t.Errorf("the text is by %v", by)
		}
	})
}

// A verbose report shows the content of a file, and must write it to a terminal as text only.
func TestHostile_escape_sequences_in_a_file_do_not_reach_a_report(t *testing.T) {
	t.Parallel()
	const text = "\x1b[2J\x1b]0;title\a cleared\n\u009b31m red \x9b32m\n\u202efdp.exe\tafter a tab\nover\rwritten\nline\u2028separator\u2029\n"
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"evil.txt": text})
		p, err := millrace.Decode([]byte(`{"name":"show\u001b[2J","verbose":true,"steps":[
			{"id":"r","action":"read_ranges","params":{"files":["evil.txt"]}},
			{"id":"a","action":"aggregate","input_from":"r"}]}`))
		if err != nil {
			if p, err = millrace.Decode([]byte(`{"name":"show","verbose":true,"steps":[
				{"id":"r","action":"read_ranges","params":{"files":["evil.txt"]}}]}`)); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := host().Plan(t.Context(), b.fs, p)
		if err != nil {
			t.Fatal(err)
		}
		var report bytes.Buffer
		if err := plan.Result().WriteReport(&report); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(report.String(), `\x1b[2J`) || !strings.Contains(report.String(), "\tafter a tab") {
			t.Errorf("the text is missing:\n%s", report.String())
		}
		for line := range strings.Lines(report.String()) {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "")
			if i := strings.IndexFunc(line, func(r rune) bool {
				return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
			}); i >= 0 {
				t.Errorf("%+q is in the report", line[i:])
			}
		}
	})
}

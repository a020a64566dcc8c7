package main

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
)

// screen returns the lines that a terminal shows at the end.
func screen(output string) string {
	var shown strings.Builder
	for line := range strings.Lines(output) {
		if i := strings.LastIndex(line, back); i >= 0 {
			line = line[i+len(back):]
		}
		shown.WriteString(line)
	}
	return shown.String()
}

// The lines that stay on a terminal are the lines that are printed elsewhere, without the quarters.
func TestTerminalShowsTheSame(t *testing.T) {
	var plain, terminal strings.Builder
	if err := run(t.Context(), &plain, false); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &terminal, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\r") || strings.Count(plain.String(), " of 100 files\n") != 6 {
		t.Errorf("not on a terminal:\n%q", plain.String())
	}
	var want strings.Builder
	for line := range strings.Lines(plain.String()) {
		if !strings.Contains(line, " of 100 files\n") {
			want.WriteString(line)
		}
	}
	if got := screen(terminal.String()); got != want.String() {
		t.Errorf("on a terminal\n%s\nelsewhere\n%s", got, want.String())
	}
	for _, text := range []string{back + "fix: 99 of 100 files, ", back + "find: 64 files, ", back + "commit: apply"} {
		if !strings.Contains(terminal.String(), text) {
			t.Errorf("%q was never shown:\n%q", text, terminal.String())
		}
	}
}

func TestMeter(t *testing.T) {
	var out strings.Builder
	m := &meter{w: &out, terminal: true, steps: 2}
	for _, e := range []millrace.Event{
		millrace.StepStarted{Step: "a", Index: 0, Action: "search"},
		millrace.StepProgress{Step: "a", Done: 64, Bytes: 16 << 20},
		millrace.StepProgress{Step: "a", Done: 70, Total: 70, Bytes: 20_000_000},
		millrace.StepFinished{Step: "a", Index: 0, Result: millrace.StepResult{Success: true}},
		millrace.StepStarted{Step: strings.Repeat("long", 30), Index: 1, Action: "edit"},
		millrace.StepFinished{Step: "b", Index: 1, Result: millrace.StepResult{Skipped: true}},
		millrace.RiskJudged{Level: risk.Low, Files: 3},
		millrace.CommitPhase{Phase: "apply"},
	} {
		m.observe(e)
	}
	m.close()
	want := back + "[1/2] a" + back + "a: 64 files, 16.8 MB" + back + "a: 70 files, 20.0 MB" + back + "[1/2] a: ok, 70 files, 20.0 MB\n" +
		back + "[2/2] " + strings.Repeat("long", 18) + "l" + back + "[2/2] b: skipped, 0 files\n" + "risk: LOW, 3 files\n" + back + "commit: apply" + back
	if got := out.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

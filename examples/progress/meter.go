package main

import (
	"fmt"
	"io"

	"github.com/millrace-go/millrace"
)

// meter shows the events of a run. They arrive one at a time, so it needs no lock.
type meter struct {
	w        io.Writer
	terminal bool
	steps    int

	last    millrace.StepProgress
	quarter int  // of the current step, if its total is known
	open    bool // the cursor is on an unfinished line
}

// observe is for Executor.Observe. It must return soon, because the run waits for it.
func (m *meter) observe(e millrace.Event) {
	switch e := e.(type) {
	case millrace.StepStarted:
		m.last, m.quarter = millrace.StepProgress{Step: e.Step}, 0
		m.now("[%d/%d] %s", e.Index+1, m.steps, e.Step)
	case millrace.StepProgress:
		m.progress(e)
	case millrace.StepFinished:
		state := "ok"
		switch {
		case e.Result.Skipped:
			state = "skipped"
		case e.Result.Failed():
			state = "failed"
		}
		m.line("[%d/%d] %s: %s, %s", e.Index+1, m.steps, e.Step, state, amount(m.last))
	case millrace.RiskJudged:
		m.line("risk: %s, %d files", e.Level, e.Files)
	case millrace.CommitPhase:
		m.now("commit: %s", e.Phase)
	}
}

// progress shows each event on a terminal. Elsewhere it shows each quarter of a step that reports its total.
func (m *meter) progress(e millrace.StepProgress) {
	m.last = e
	if m.terminal {
		m.now("%s: %s", e.Step, amount(e))
		return
	}
	if e.Total == 0 || e.Done == e.Total {
		return
	}
	if q := e.Done * 4 / e.Total; q > m.quarter {
		m.quarter = q
		m.line("%s: %d of %d files", e.Step, e.Done, e.Total)
	}
}

// amount returns the progress of a step.
func amount(e millrace.StepProgress) string {
	files := fmt.Sprintf("%d files", e.Done)
	if e.Total > e.Done {
		files = fmt.Sprintf("%d of %d files", e.Done, e.Total)
	}
	if e.Bytes == 0 {
		return files
	}
	return fmt.Sprintf("%s, %.1f MB", files, float64(e.Bytes)/1e6)
}

// back moves the cursor to the beginning of its line and clears the line.
const back = "\r\x1b[K"

// now shows a text that the next text replaces. It only works on a terminal.
func (m *meter) now(format string, args ...any) {
	if m.terminal {
		m.open = true
		fmt.Fprint(m.w, back+cut(fmt.Sprintf(format, args...)))
	}
}

// line shows a text that stays.
func (m *meter) line(format string, args ...any) {
	m.close()
	fmt.Fprintln(m.w, fmt.Sprintf(format, args...))
}

// close clears an unfinished line.
func (m *meter) close() {
	if m.open {
		m.open = false
		fmt.Fprint(m.w, back)
	}
}

// cut shortens a text to a line of a terminal: a longer text would wrap, and could not be cleared.
func cut(text string) string {
	const width = 79
	if r := []rune(text); len(r) > width {
		return string(r[:width])
	}
	return text
}

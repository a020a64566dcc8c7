package actions

import (
	"slices"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/patch"
)

// mostWarnings limits the reported warnings of a patch.
const mostWarnings = 50

// outcome returns the reports on the files, or the failures.
func (w *patching) outcome() (Outcome, error) {
	w.idle()
	for _, text := range names.First(w.warnings, mostWarnings, func(text string) string { return text }) {
		w.c.Warnf("%s", text)
	}
	failures := w.failures()
	stopped := len(failures) > 0 && (w.OnError != onErrorContinue || w.allFailed())
	out := Outcome{Counts: make(map[string]int), Renames: make(map[string]string)}
	told := make(map[*patchNode]bool, len(w.nodes))
	for _, s := range w.sections {
		if s.node == nil {
			out.Reports = append(out.Reports, reportOfSections(s.name, 0, []*patchSection{s}))
			continue
		}
		if told[s.node] || stopped && !s.node.failed {
			continue
		}
		told[s.node] = true
		w.tell(&out, s.node)
	}
	if stopped {
		return Outcome{Reports: out.Reports}, &patchError{Failures: failures}
	}
	if len(failures) > 0 {
		for _, text := range names.First(failures, mostFailures, (*hunkFailure).Error) {
			w.c.Warnf("not patched: %s", text)
		}
	}
	return out, nil
}

// allFailed reports whether nothing could be done to any file.
func (w *patching) allFailed() bool {
	return !slices.ContainsFunc(w.sections, func(s *patchSection) bool {
		return len(s.failures) == 0 && (s.node == nil || !s.node.failed)
	})
}

// tell adds the result of one file.
func (w *patching) tell(out *Outcome, n *patchNode) {
	last := n.section[len(n.section)-1]
	report := reportOfSections(last.name, n.edits, n.section)
	defer func() { out.Reports = append(out.Reports, report) }()
	if n.failed {
		return
	}
	if n.final != "" && !n.link {
		// The next edit may name this hash without reading the file.
		if text, err := w.c.stage().Content(n.final); err == nil {
			if hash, err := text.Hash(); err == nil {
				report.ContentHash = hash.String()
			}
		}
	}
	if n.final == "" && (n.place == "" || n.copyOf != "") {
		return // the patch has made it and deleted it again
	}
	out.change(last.name, n.edits)
	from := ""
	for _, s := range n.section {
		if s.Op != patch.Rename {
			continue
		}
		if from == "" {
			from = s.old
		}
		out.Renames[from] = s.new
	}
	if out.Renames[from] == from {
		delete(out.Renames, from)
	}
}

// unchanged reports whether a file of the stage does not change.
func (n *patchNode) unchanged() bool {
	return n.place != "" && n.copyOf == "" && n.final == n.place && !n.moded && !n.retext &&
		(n.same || len(n.splices) == 0)
}

// idle finds the files that do not change. A warning names each such file that has edits, and another warning is given
// if no file changes.
func (w *patching) idle() {
	if len(w.failures()) > 0 {
		return
	}
	all := true
	for _, n := range w.nodes {
		switch last := n.section; {
		case len(last) == 0, n.final == "" && (n.place == "" || n.copyOf != ""):
		case n.done && n.moded:
			n.edits, all = 1, false
		case n.done:
			w.warn("%s is there already, as the patch makes it", last[len(last)-1].name)
			n.edits = 0
		case n.unchanged():
			if n.edits > 0 {
				w.warn("%s: the edits of the patch leave the file as it was", last[len(last)-1].name)
			}
			n.edits = 0
		case n.edits > 0:
			all = false
		}
	}
	if all {
		w.warn("the patch changes nothing")
	}
}

// reportOfSections returns the result of the hunks of a file. If the file itself is invalid, all hunks have failed.
func reportOfSections(name string, edits int, sections []*patchSection) FileReport {
	const command = "hunk"
	r := FileReport{Path: name, Success: true}
	whole := ""
	for _, s := range sections {
		for _, f := range s.failures {
			r.Success = false
			if r.Error == "" {
				r.Error, r.Cause = f.reason(), causeOf(f)
			}
			if f.Hunk == 0 {
				whole = f.reason()
				continue
			}
			r.FailedEdits = append(r.FailedEdits, FailedEdit{Index: f.Hunk - 1, Command: command, Error: f.reason()})
		}
	}
	if whole != "" {
		r.FailedEdits = nil
		for _, s := range sections {
			for i := range s.Hunks {
				r.FailedEdits = append(r.FailedEdits, FailedEdit{Index: s.first + i, Command: command, Error: whole})
			}
		}
	}
	failed := len(r.FailedEdits)
	if !r.Success {
		edits = 0
	}
	r.EditsApplied, r.EditsFailed = &edits, &failed
	return r
}

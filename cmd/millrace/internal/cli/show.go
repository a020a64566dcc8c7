package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/htmlreport"
	"github.com/millrace-go/millrace/lsp"
)

// format returns the output format: the one of --format, or else the id of a commit with -q, the compact line of a
// change that is made, and the diff of a change that is not made, or not yet.
func (s *session) format() string {
	commits := s.sure && !s.flags.dryRun && s.flags.store == ""
	switch {
	case s.flags.format != "":
		return s.flags.format
	case s.flags.check:
		return formatNames
	case s.flags.events == "-":
		return formatNone
	case commits && s.flags.quiet:
		return formatID
	case commits:
		return formatReport
	case s.flags.store != "":
		return formatNone
	}
	return formatDiff
}

// showsPlan reports whether the plan is shown, and not only the outcome.
func (s *session) showsPlan() bool {
	f := s.format()
	return f != formatJSON && f != formatReport && f != formatNone && f != formatID
}

// verboseReport reports whether the result is shown with its warnings.
func (s *session) verboseReport() bool { return s.format() == formatReport && s.flags.verbose }

// show writes the plan to stdout, in the formats that show a plan.
func (s *session) show(plan *millrace.Plan) error {
	var err error
	out := &sink{w: s.Stdout}
	w := bufio.NewWriterSize(out, 1<<16)
	switch s.format() {
	case formatDiff:
		err = s.showDiff(w, plan)
	case formatNames:
		err = s.showNames(w, plan)
	case formatStat:
		err = render.Stat(w, plan, s.style(s.Stdout))
	case formatJSONL:
		err = showLines(w, plan)
	case formatHTML:
		err = htmlreport.Write(w, plan, htmlreport.Options{Title: plan.Result().Name})
	case formatLSP:
		err = showLSP(w, plan, s.root)
	}
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	if out.err != nil {
		return &outputError{out.err}
	}
	return err
}

// sink is a writer that keeps its error, to distinguish it from errors of the source.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// showLSP writes the plan as a WorkspaceEdit.
func showLSP(w io.Writer, plan *millrace.Plan, root string) error {
	edit, err := lsp.From(plan, lsp.Options{Root: root})
	if err != nil {
		return err
	}
	return encodeJSON(w, edit)
}

// showResult writes the outcome of a change: to stdout in the formats for it, otherwise as a line on stderr. In JSON
// formats, App.Run writes an error together with the result.
func (s *session) showResult(r *millrace.Result, err error) error {
	switch s.format() {
	case formatReport:
		var b strings.Builder
		switch {
		case s.verboseReport() || r.Verbose:
			_ = r.WriteReport(&b) // a Builder never fails
		case err != nil:
			return nil // the error has all information of the line
		default:
			b.WriteString(s.summary(r))
		}
		return s.writeReport(b.String())
	case formatJSON, formatJSONL:
		s.failed = r
		if err != nil {
			return nil
		}
		return s.writeResult(r)
	case formatID:
		if err == nil && r.BackupID != "" {
			return s.write(r.BackupID + "\n")
		}
	default:
		if err == nil {
			s.talk("%s", s.summary(r))
		}
	}
	return nil
}

// summary returns the result of a change as a line.
func (s *session) summary(r *millrace.Result) string {
	if s.redone != "" && r.Success {
		done := "redone"
		if r.DryRun {
			done = "would redo"
		}
		return fmt.Sprintf("OK: %s %s | %s", done, s.redone, counted(r.FilesChanged.Count(), "file"))
	}
	text := r.String()
	if r.TotalEdits == 0 && r.FilesChanged.Count() > 0 {
		text = strings.Replace(text, " | 0 edits", "", 1) // files were only moved, made or deleted
	}
	return text
}

// writeResult writes a result as JSON. The result of a plan also has its digest.
func (s *session) writeResult(r *millrace.Result) error {
	if s.format() == formatJSONL {
		return s.writeJSON(struct {
			Result *millrace.Result `json:"result"`
			Digest string           `json:"digest,omitempty"`
		}{r, s.digest})
	}
	if s.digest == "" {
		return s.writeJSON(r)
	}
	data, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("%s,\"digest\":%q}\n", strings.TrimSuffix(string(data), "}"), s.digest))
}

// digestOf returns the digest of a plan, "" for a plan that cannot be committed.
func digestOf(plan *millrace.Plan) string {
	digest, err := plan.Digest()
	if err != nil {
		return ""
	}
	return digest
}

// endLine adds a line end to a text that has none.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

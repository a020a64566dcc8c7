package millrace

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

const (
	reportRule = "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━" // 39 columns

	shortList    = 2  // files of a step in a report that is not verbose
	longestText  = 50 // lines of a file in a verbose report
	longestWay   = 30 // steps in the order of execution in a report
	detailIndent = "   "
	itemIndent   = "     "
)

// Write writes the form that the pipeline asks for: the compact line, or the whole report if it is verbose. The error
// is an error of w.
func (r *Result) Write(w io.Writer) error {
	if r.Verbose {
		return r.WriteReport(w)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

// WriteReport writes the report for people, whatever form the pipeline asks for. It lists two files per step. If the
// pipeline is verbose, it lists all files, file contents (50 lines each at most) and counts per file. [Result.Write]
// follows the pipeline's setting.
func (r *Result) WriteReport(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, reportRule)
	fmt.Fprintf(b, "📋 Pipeline: %s\n", fsutil.Visible(r.Name))
	fmt.Fprintf(b, "%s Success: %t\n", mark(r.Success), r.Success)
	if r.Restores != "" {
		fmt.Fprintf(b, "↩️ Restores: %s\n", r.Restores)
	} else {
		fmt.Fprintf(b, "📊 Steps: %d/%d completed\n", r.CompletedSteps, r.TotalSteps)
	}
	if way := r.way(); way != "" {
		fmt.Fprintf(b, "🧭 Order: %s\n", way)
	}
	fmt.Fprintf(b, "⏱️ Duration: %s\n", formatDuration(r.TotalDuration))
	for _, line := range r.boundsLines() {
		fmt.Fprintln(b, line)
	}
	if r.BackupID != "" {
		fmt.Fprintf(b, "💾 Backup: %s\n", r.BackupID)
	}
	if r.DryRun {
		fmt.Fprintln(b, "👁️ Dry run: nothing was written")
	}
	if r.BlockReason != "" {
		fmt.Fprintf(b, "⛔ Blocked: %s\n", fsutil.Visible(r.BlockReason))
	} else if r.Error != "" {
		fmt.Fprintf(b, "❗ Error: %s\n", fsutil.Visible(r.Error))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(b, "⚠️ Warning: %s\n", fsutil.Visible(warning))
	}
	if r.Restores == "" {
		fmt.Fprintf(b, "\n📝 Step Results:\n")
	}
	for i, s := range r.Results {
		fmt.Fprintln(b)
		s.writeReport(b, i+1, r.Verbose)
	}
	fmt.Fprintf(b, "\n%s\n", reportRule)
	if r.Restores != "" {
		fmt.Fprintf(b, "📁 Files restored: %d\n", r.FilesChanged.Count())
	}
	if r.OverallRiskLevel != risk.Unset {
		fmt.Fprintf(b, "📁 Files affected: %d\n", r.filesCounted())
		fmt.Fprintf(b, "✏️ Total edits: %d\n", r.TotalEdits)
		fmt.Fprintf(b, "⚠️ Overall risk: %s\n", r.OverallRiskLevel)
	}
	return b.Flush()
}

// way returns the steps in the order in which they ran, with repetitions, "" if that is the order of the pipeline and
// each ran once.
func (r *Result) way() string {
	var way, straight []string
	for _, v := range r.History {
		if v.Outcome != visitSkipped {
			way = append(way, v.StepID)
		}
	}
	for i := range r.Results {
		if s := &r.Results[i]; !s.Skipped {
			straight = append(straight, s.StepID)
		}
	}
	if slices.Equal(way, straight) {
		return ""
	}
	more := ""
	if n := len(way) - longestWay; n > 0 {
		way, more = way[:longestWay], fmt.Sprintf(" … and %d more", n)
	}
	return strings.Join(way, " → ") + more
}

func (s StepResult) writeReport(b *bufio.Writer, number int, verbose bool) {
	sign := mark(s.Success)
	if s.Skipped {
		sign = "⏭️"
	}
	fmt.Fprintf(b, "%d. %s [%s] %s\n", number, s.StepID, s.Action, sign)
	detail := func(format string, args ...any) { fmt.Fprintf(b, detailIndent+format+"\n", args...) }
	detail("Duration: %s", formatDuration(s.Duration))
	if s.Visits > 0 {
		detail("Visits: %d", s.Visits)
	}
	if s.Attempts > 0 {
		detail("Attempts: %d", s.Attempts)
	}
	if s.Cost > 0 {
		detail("Cost: %v", s.Cost)
	}
	if s.Jump != nil {
		detail("Next: %s (%s)", s.Jump.To, s.Jump.By)
	}
	if s.Skipped {
		detail("Skipped: %s", fsutil.Visible(s.SkipReason))
	}
	if s.Error != "" {
		detail("Error: %s", fsutil.Visible(s.Error))
	}
	switch edits, counts := editing[s.Action], s.Action == "count_occurrences"; {
	case s.Skipped || s.Failed():
	case edits || s.EditsApplied > 0:
		detail("Edits: %d replacements", s.EditsApplied)
		if verbose {
			writeCounts(b, s.Counts)
		}
	case s.Action == "diff":
		detail("Changes: %d", s.Counts["changes"])
	case counts:
		detail("Counts: %d total occurrences", s.count())
		if verbose {
			writeCounts(b, s.Counts)
		}
	default:
		detail("Files: %d matched", len(s.FilesMatched))
		writeFiles(b, s, verbose)
	}
	if s.RiskLevel > risk.Low {
		detail("⚠️ Risk: %s", s.RiskLevel)
	}
	for _, warning := range s.Warnings {
		detail("⚠️ Warning: %s", fsutil.Visible(warning))
	}
	if verbose {
		for _, path := range slices.Sorted(maps.Keys(s.Content)) {
			detail("Content of %s:", fsutil.Visible(path))
			writeText(b, s.Content[path])
		}
		for _, f := range s.Files {
			if f.Preview != "" {
				detail("Preview of %s:", fsutil.Visible(f.Path))
				writeText(b, f.Preview)
			}
		}
		if s.AggregatedContent != "" {
			detail("Content:")
			writeText(b, s.AggregatedContent)
		}
		if s.Output != "" {
			detail("Output:")
			writeText(b, s.Output)
		}
	}
}

// editing are the actions whose number of edits is shown even if it is 0.
var editing = map[string]bool{"edit": true, "edit_files": true, "multi_edit": true, "patch": true,
	"pattern_replace": true, "regex_transform": true}

func writeFiles(b *bufio.Writer, s StepResult, verbose bool) {
	files := s.FilesMatched
	if !verbose && len(files) > shortList {
		files = files[:shortList]
	}
	from := make(map[string]string, len(s.Renames))
	for old, name := range s.Renames {
		from[name] = fsutil.Visible(old) + " → "
	}
	for _, f := range files {
		fmt.Fprintf(b, "%s- %s%s\n", itemIndent, from[f], fsutil.Visible(f))
	}
	if more := len(s.FilesMatched) - len(files); more > 0 {
		fmt.Fprintf(b, "%s... and %d more\n", itemIndent, more)
	}
}

func writeCounts(b *bufio.Writer, counts map[string]int) {
	for _, path := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "%s%s: %d\n", itemIndent, fsutil.Visible(path), counts[path])
	}
}

// writeText writes at most longestText lines: the first and the last half of them.
func writeText(b *bufio.Writer, text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	omitted := len(lines) - longestText
	for i, line := range lines {
		if omitted > 0 && i == longestText/2 {
			fmt.Fprintf(b, "%s... (%d lines omitted) ...\n", itemIndent, omitted)
		}
		if omitted > 0 && i >= longestText/2 && i < longestText/2+omitted {
			continue
		}
		b.WriteString(itemIndent)
		for i, piece := range strings.Split(strings.TrimSuffix(line, "\r"), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(fsutil.Visible(piece))
		}
		b.WriteByte('\n')
	}
}

func mark(ok bool) string {
	if ok {
		return "✅"
	}
	return "❌"
}

// formatDuration rounds like a person: 3.4ms, 234ms, 1.2s, 2m5s.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// boundsLines returns the lines of a report about the bounds of a run: none if it had no bounds and no costs.
func (r *Result) boundsLines() []string {
	var lines []string
	if r.Classification != "" {
		lines = append(lines, "🏷️ Classification: "+fsutil.Visible(r.Classification))
	}
	of := ""
	if r.Budget != nil && r.Budget.Limit > 0 {
		of = " of " + r.Budget.Limit.String()
	}
	if r.Cost > 0 || of != "" {
		lines = append(lines, "💰 Cost: "+r.Cost.String()+of)
	}
	if r.Budget != nil {
		for _, m := range []struct {
			what string
			of   *budget.Measure
		}{{"files", r.Budget.Files}, {"edits", r.Budget.Edits}, {"bytes", r.Budget.Bytes}} {
			if m.of != nil {
				lines = append(lines, fmt.Sprintf("💰 Budget: %d of %d %s", m.of.Spent, m.of.Limit, m.what))
			}
		}
	}
	if r.DeadlineMet != nil {
		lines = append(lines, "⏰ Deadline met: "+strconv.FormatBool(*r.DeadlineMet))
	}
	return lines
}

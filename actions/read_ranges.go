package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/lineedit"
)

// Range is a range of lines of a [ReadRanges]: both numbers count from 1 and are included. Negative numbers count from
// the end; -1 is the last line. Zero means the first line in Start, the last line in End.
type Range struct {
	Start int `json:"start,omitempty" param:"nonzero" doc:"First line, counted from 1; negative counts from the end. Default: 1."`
	End   int `json:"end,omitempty" param:"nonzero" doc:"Last line, included; negative counts from the end. Default: -1, the last line."`
}

// ReadRanges reads files, or ranges of their lines.
//
// Lines keep their line ends. Several ranges of one file are joined in the given order, with "\n...\n" in place of the
// line end between two ranges. An End after the last line means the last line, a Start before the first line means the
// first line. A range that begins after the end of the file, or ends before it begins, fails the step.
//
// Reports has, for each file, the SHA-256 of the whole file as content_hash, the SHA-256 of the exact bytes of the
// range as range_hash, or of several ranges as range_hashes, and the time of the last change. [EditFiles] accepts these
// hashes.
//
// The first file that cannot be read, in the order of the list, fails the step, unless OnError is "continue". Then its
// report has the reason, a warning has the details, and Files of the outcome are the other files.
type ReadRanges struct {
	Files     []string `json:"files,omitempty" doc:"Files to read. Leave it out if an earlier step gives them."`
	Paths     []string `json:"paths,omitempty" doc:"Another name for files."`
	Path      string   `json:"path,omitempty" doc:"A file to read, instead of a list."`
	StartLine int      `json:"start_line,omitempty" param:"nonzero" doc:"First line to read, counted from 1; negative counts from the end. Default: 1."`
	EndLine   int      `json:"end_line,omitempty" param:"nonzero" doc:"Last line to read; negative counts from the end. Default: -1, the last line."`
	Ranges    []Range  `json:"ranges,omitempty" doc:"Several ranges of lines, instead of start_line and end_line."`
	OnError   string   `json:"on_error,omitempty" enum:"stop,continue" doc:"A file with a failure fails the step (stop) or is reported (continue). Default: stop."`
}

// rangeSeparator separates two ranges of one file.
const rangeSeparator = "\n...\n"

// Spec implements [Action].
func (ReadRanges) Spec() Spec {
	return Spec{Name: "read_ranges", Summary: "Read files, or ranges of their lines", ReadOnly: true, Input: InputFiles}
}

// Validate implements [Validator].
func (r ReadRanges) Validate(c *Check) {
	if len(r.Ranges) > 0 && (r.StartLine != 0 || r.EndLine != 0) {
		c.Problemf("/ranges", codeBadRange, "use one of them", "ranges cannot be combined with start_line and end_line")
	}
	if len(r.Files) > 0 && len(r.Paths) > 0 {
		c.Problemf("/paths", codeBadRange, "use one of them", "paths and files are two names of one parameter")
	}
	if r.Path != "" && len(r.Files)+len(r.Paths) > 0 {
		c.Problemf("/path", codeBadRange, "use one of them", "path and files are two names of one parameter")
	}
	start, end := Range{r.StartLine, r.EndLine}.bounds()
	checkRange(c, "/end_line", start, end)
	for i, one := range r.Ranges {
		start, end := one.bounds()
		checkRange(c, fmt.Sprintf("/ranges/%d", i), start, end)
	}
}

// checkRange reports a range that ends before it begins, if that is known without the file.
func checkRange(c *Check, param string, start, end int) {
	if (start > 0) == (end > 0) && start > end {
		c.Problemf(param, codeBadRange, "", "range ends at line %d, before it begins at line %d", end, start)
	}
}

// Touches implements [Toucher].
func (r ReadRanges) Touches() (reads, writes []string, known bool) {
	files := slices.Concat(r.Files, r.Paths)
	if r.Path != "" {
		files = append(files, r.Path)
	}
	return files, nil, true
}

// Run implements [Action]. Content of the outcome has the text read from each file. Binary files are an error.
func (r ReadRanges) Run(ctx context.Context, c *Call) (Outcome, error) {
	ranges := r.Ranges
	if len(ranges) == 0 {
		ranges = []Range{{r.StartLine, r.EndLine}}
	}
	texts := make([]string, len(c.Files))
	reports := make([]FileReport, len(c.Files))
	room := c.Limits.shown()
	binary := errors.New("is a binary file") // no parameter allows it
	goOn := r.OnError == onErrorContinue
	failed, err := c.try(ctx, c.Files, goOn, func(ctx context.Context, i int, file string) error {
		// An update without splices: it ensures that all readings of a large file, including the reading for its hash, see
		// the same bytes.
		return c.update(file, binary, func(content *source) ([]change.Splice, error) {
			info, err := c.FS.Stat(file)
			if err != nil {
				return nil, err
			}
			reports[i] = FileReport{Path: file, Success: true, LastModified: info.ModTime().UTC()}
			texts[i], err = rangeReader{c, ranges, room, &reports[i]}.lines(ctx, content)
			return nil, err
		})
	})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Content: make(map[string]string, len(c.Files)), Reports: reports}
	for i, file := range c.Files {
		if err := failed[i]; err != nil {
			c.Warnf("not read: %v", err)
			reports[i] = ReportOf(file, err)
			continue
		}
		out.Files = append(out.Files, file)
		out.Content[file] = texts[i]
	}
	return out, nil
}

// rangeReader reads one file.
type rangeReader struct {
	*Call
	ranges []Range
	room   *showing
	report *FileReport
}

func (r Range) bounds() (start, end int) { return cmp.Or(r.Start, 1), cmp.Or(r.End, -1) }

// lines returns the lines of all ranges. It adds the hashes of the text and of each range to the report.
func (r rangeReader) lines(ctx context.Context, content *source) (string, error) {
	file, err := r.divide(ctx, content)
	if err != nil {
		return "", err
	}
	hash, err := r.hashOf(content)
	if err != nil {
		return "", err
	}
	r.report.ContentHash = hash.String()
	lines := make([]lineedit.Range, len(r.ranges))
	for i, one := range r.ranges {
		if lines[i], err = one.in(file.Lines); err != nil {
			return "", err
		}
		if err := r.room.take(len(rangeSeparator) + 2*len(change.Hash{})); err != nil {
			return "", err
		}
	}
	texts := make([][]byte, len(r.ranges))
	err = file.Read(lines, func(i int, piece []byte) error {
		if err := cmp.Or(r.room.take(len(piece)), ctx.Err()); err != nil {
			return err
		}
		texts[i] = append(texts[i], piece...)
		return nil
	})
	if err != nil {
		return "", err
	}
	for i, text := range texts {
		r.report.RangeHashes = append(r.report.RangeHashes, change.HashOf(text).String())
		if i < len(texts)-1 {
			texts[i] = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		}
	}
	if len(texts) == 1 {
		r.report.RangeHash, r.report.RangeHashes = r.report.RangeHashes[0], nil
		return string(texts[0]), nil
	}
	return string(bytes.Join(texts, []byte(rangeSeparator))), nil
}

// in returns the range in a file with that many lines.
func (r Range) in(lines int) (lineedit.Range, error) {
	from, to := r.bounds()
	start, end := from, to
	if start < 0 {
		start = max(1, lines+1+start)
	}
	if end < 0 {
		end = max(0, lines+1+end)
	}
	end = min(end, lines)
	// An empty file has no lines, but reading all of it is not a mistake.
	if (start > lines || start > end) && (lines > 0 || start > 1) {
		return lineedit.Range{}, &lineError{Start: from, End: to, Lines: lines}
	}
	return lineedit.Range{First: start, Last: end}, nil
}

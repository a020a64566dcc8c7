package htmlreport

import (
	"fmt"
	"io"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/page"
)

// defaultMaxBytes is how large a report becomes at most unless Options.MaxBytes says otherwise: what a browser shows at
// once.
const defaultMaxBytes = 8 << 20

// Options say how a report looks. The zero value has the defaults.
type Options struct {
	// Title is the heading. By default it is the name of the pipeline.
	Title string
	// MaxBytes is how many bytes the report has at most, 0 for 8 MiB. Lines are shown as long as they fit.
	// For files after that, the report has the number of lines, and for files after those, their number. It is an
	// error if the summary alone is larger: 64 KiB are always enough for a pipeline with short messages.
	MaxBytes int64
}

// Write writes the report of a plan. The plan may be blocked, or have failed: the report shows that. Files are read
// one after the other, and one at a time is held.
//
// The error is that of w, or fsutil.ErrDrift if a file has changed since it was planned. The text that was written by
// then is not whole. A file that is too large to be shown is listed without its lines.
func Write(w io.Writer, plan *millrace.Plan, opt Options) error {
	limit := opt.MaxBytes
	if limit == 0 {
		limit = defaultMaxBytes
	}
	result := plan.Result()
	digest, err := plan.Digest()
	if err != nil && result.Success {
		return fmt.Errorf("report: %w", err)
	}
	changes := plan.Outline()
	var head paper
	head.begin(opt.Title, result)
	head.summary(result, digest)
	left := limit - int64(head.Len()) - longestFoot
	if left < 0 {
		return fmt.Errorf("report: the summary has %d bytes, more than the %d of MaxBytes", int64(head.Len())+
			longestFoot,
			limit)
	}
	out := counting{w: w}
	if err := out.page(&head.Page); err != nil {
		return err
	}
	listed, reserved := fitting(changes, left)
	f := files{plan: plan, out: &out, kind: page.KindsOf(result.FilesChanged), left: left, reserved: reserved}
	for _, c := range changes[:listed] {
		if err := f.write(c); err != nil {
			return err
		}
	}
	var foot paper
	foot.end(len(changes), len(changes)-listed)
	return out.page(&foot.Page)
}

// longestFoot is more than what end writes.
const longestFoot = 512

// fitting returns how many changes can be listed in that many bytes, and how many bytes that takes at most.
func fitting(changes []change.Change, left int64) (listed int, reserved int64) {
	for i, c := range changes {
		n := longestRow(c)
		if reserved+n > left {
			return i, reserved
		}
		reserved += n
	}
	return len(changes), reserved
}

// counting writes pages.
type counting struct {
	w io.Writer
}

func (c *counting) page(p *page.Page) error {
	if _, err := c.w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

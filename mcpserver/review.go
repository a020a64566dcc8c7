package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
)

type reviewArgs struct {
	PlanID   string   `json:"plan_id"`
	Paths    []string `json:"paths"`
	Offset   int64    `json:"offset"`
	MaxBytes int      `json:"max_bytes"`
	Reject   []struct {
		Path  string `json:"path"`
		Hunks []int  `json:"hunks"`
	} `json:"reject"`
}

// reviewPlan shows pages of the diff of a plan, or makes another plan from it without the rejected parts.
func reviewPlan(_ context.Context, c *call) (*answer, error) {
	var args reviewArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	e, err := c.plans.find(args.PlanID)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if len(args.Reject) > 0 {
		plan, err := rejected(e.plan, args)
		if err != nil {
			return nil, mistaken(err,
				"call review_plan without reject, and take the paths and hunks from what it shows")
		}
		if e, err = c.plans.add(plan, e.relay, reported); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\nplan_id: %s\ndigest: %s\n", plan.Result(), e.id, e.digest)
	}
	pg, err := c.page(e, args.Paths, args.Offset, args.MaxBytes, c.cfg.MaxResult-500)
	if errors.Is(err, fs.ErrClosed) {
		const next = "call history for what was applied, or plan_pipeline for another change"
		return nil, planError(next, "plan %s was applied already", e.id)
	}
	if err != nil {
		return nil, mistaken(err, "call review_plan without paths, and take them from what it shows")
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(pg.text)
	a := &answer{data: map[string]any{
		"summary": e.plan.Result().String(), "plan_id": e.id, "digest": e.digest, "diff": pg.text,
	}}
	if pg.next > 0 {
		a.data["next_offset"], a.data["diff_bytes"] = pg.next, pg.total
		fmt.Fprintf(&b, "\nnext_offset: %d of %d bytes\n", pg.next, pg.total)
		a.links = append(a.links, planLink(e))
	}
	if pg.total == 0 {
		b.WriteString("the plan changes nothing")
	}
	a.texts = []string{strings.TrimRight(b.String(), "\n")}
	return a, nil
}

// rejected returns the plan without the rejected parts. The numbers of hunks refer to the plan that was shown, so the
// hunks of one file are rejected together.
func rejected(plan *millrace.Plan, args reviewArgs) (*millrace.Plan, error) {
	hunks, paths := make(map[string][]int), []string{}
	var order []string
	for _, r := range args.Reject {
		if len(r.Hunks) == 0 {
			paths = append(paths, r.Path)
			continue
		}
		if hunks[r.Path] == nil {
			order = append(order, r.Path)
		}
		numbers, err := fromZero(plan, r.Path, r.Hunks)
		if err != nil {
			return nil, err
		}
		hunks[r.Path] = append(hunks[r.Path], numbers...)
	}
	var err error
	for _, path := range order {
		if plan, err = plan.RejectHunks(path, hunks[path]...); err != nil {
			return nil, err
		}
	}
	if len(paths) > 0 {
		return plan.Reject(paths...)
	}
	return plan, nil
}

// fromZero converts the hunk numbers of a file, which count from 1 as at the prompt, to the numbers of the library,
// which count from 0.
func fromZero(plan *millrace.Plan, path string, hunks []int) ([]int, error) {
	files, err := plan.Files(path)
	if err != nil {
		return nil, err
	}
	has := 0
	if len(files) == 1 {
		has = len(files[0].Hunks)
	}
	numbers := make([]int, len(hunks))
	for i, n := range hunks {
		if n < 1 || n > has {
			return nil, fmt.Errorf("%s has no hunk %d; it has %d, counted from 1", path, n, has)
		}
		numbers[i] = n - 1
	}
	return numbers, nil
}

// page is a part of a diff. next is the offset of the next page, 0 after the last.
type page struct {
	text        string
	next, total int64
}

// page returns a part of the diff of a plan, of at most the wanted number of bytes, cut at lines where possible. The
// diff is written once and not held in memory.
func (c *call) page(e *entry, paths []string, offset int64, wanted, most int) (page, error) {
	if wanted <= 0 || wanted > most {
		wanted = most
	}
	w := &window{from: offset, room: wanted}
	if err := e.plan.WriteDiff(w, paths...); err != nil {
		return page{}, err
	}
	if offset > w.seen {
		return page{}, fmt.Errorf("offset %d is behind the end of the diff, which has %d bytes", offset, w.seen)
	}
	text := w.kept
	if offset+int64(len(text)) < w.seen {
		text = whole(text)
	}
	pg := page{text: string(text), total: w.seen}
	if end := offset + int64(len(text)); end < w.seen {
		pg.next = end
	}
	return pg, nil
}

// whole removes a line that is cut or, in a text of one line, a character that is cut.
func whole(text []byte) []byte {
	if i := strings.LastIndexByte(string(text), '\n'); i >= 0 {
		return text[:i+1]
	}
	for i := len(text) - 1; i > 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return text[:i]
		}
	}
	return text
}

// window keeps some of the bytes that are written to it, and counts all of them.
type window struct {
	from, seen int64
	room       int
	kept       []byte
}

var _ io.Writer = (*window)(nil)

func (w *window) Write(p []byte) (int, error) {
	begin := w.seen
	w.seen += int64(len(p))
	part := p
	if skip := w.from - begin; skip > 0 {
		part = part[min(skip, int64(len(part))):]
	}
	w.kept = append(w.kept, part[:min(len(part), w.room-len(w.kept))]...)
	return len(p), nil
}

func planLink(e *entry) *mcp.ResourceLink {
	return &mcp.ResourceLink{
		URI: "millrace://plans/" + e.id + "/diff", Name: "diff of plan " + e.id, MIMEType: "text/x-diff",
		Description: "The whole diff.",
	}
}

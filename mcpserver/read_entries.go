package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// fileRead is the entry of one path.
type fileRead struct {
	Path         string     `json:"path"` // as the call named it
	Success      bool       `json:"success"`
	Content      *string    `json:"content,omitempty"`
	ContentHash  string     `json:"content_hash,omitempty"`
	RangeHash    string     `json:"range_hash,omitempty"`
	LastModified *time.Time `json:"last_modified,omitempty"`
	// Matches and Files count the results: Search sets both, Glob only Files.
	Matches *int `json:"matches,omitempty"`
	Files   *int `json:"files_matched,omitempty"`
	// Type and Bytes are set for an image.
	Type  string `json:"mime_type,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	// Truncated means that the content is cut, and NextLine is where to continue.
	Truncated bool   `json:"truncated,omitempty"`
	NextLine  int    `json:"next_start_line,omitempty"`
	Error     string `json:"error,omitempty"`
	Code      string `json:"code,omitempty"`
	Cause     string `json:"cause,omitempty"`

	// first is the number of the first line of the content, 0 for content without lines.
	first int
	image []byte
	err   error
}

// reading is one call of fs_read.
type reading struct {
	*call
	args    readArgs
	asked   []string
	room    int // for one entry
	entries []*fileRead
	notes   []string
	regex   bool // a pattern was read as a regular expression
}

// each makes the entry of each path. A path that cannot be read fails only its entry; mistakes in the other arguments
// fail the call.
func (r *reading) each(ctx context.Context, read func(context.Context, string, *fileRead) error) error {
	r.entries = nil
	for _, asked := range r.asked {
		e := &fileRead{Path: asked, Success: true}
		if err := read(ctx, home(asked), e); err != nil {
			if ctx.Err() != nil || millrace.ErrorCode(err) == "invalid_pipeline" {
				return err
			}
			e.fail(err)
		}
		r.entries = append(r.entries, e)
	}
	return ctx.Err()
}

func (e *fileRead) fail(err error) {
	failed := actions.ReportOf(e.Path, err)
	e.Success, e.Error, e.Cause = false, visible(report(failed.Error)), failed.Cause
	e.Code, e.err = codeOf(err), err
}

// note adds a text that is reported once, separate from the entries.
func (r *reading) note(texts ...string) {
	for _, text := range texts {
		if !slices.Contains(r.notes, text) {
			r.notes = append(r.notes, text)
		}
	}
}

// answer returns the entries as JSON, and each content as a text of its own, so that a model reads it exactly as in the
// file. It has one object for a path, and a list for several. It is a failure if nothing could be read.
func (r *reading) answer() (*answer, error) {
	a := &answer{}
	read := 0
	heads := make([]fileRead, len(r.entries))
	for i, e := range r.entries {
		if e.Success {
			read++
		}
		heads[i] = *e
		heads[i].Content = nil
		switch e.RangeHash {
		case "":
		case e.ContentHash:
			heads[i].RangeHash = ""
		default: // as many digits of both as the model needs to send them back
			heads[i].RangeHash, heads[i].ContentHash = e.RangeHash[:hashShown], e.ContentHash[:hashShown]
		}
	}
	single := r.args.Path != nil
	var shown any = heads
	if single {
		shown = heads[0]
	}
	a.texts = []string{asText(shown, r.cfg.MaxResult)}
	if contents := r.contents(single); contents != "" {
		a.texts = append(a.texts, contents)
	}
	for _, e := range r.entries {
		if e.image != nil {
			a.images = append(a.images, &mcp.ImageContent{Data: e.image, MIMEType: e.Type})
		}
	}
	a.note(r.notes...)
	data, err := r.data(single)
	if err != nil {
		return nil, err
	}
	data["summary"] = fmt.Sprintf("%d of %d read", read, len(r.entries))
	if len(r.notes) > 0 {
		data["warnings"] = r.notes
	}
	a.data = data
	if read == 0 && len(r.entries) > 0 {
		return a, r.entries[0].err
	}
	return a, nil
}

// contents returns the contents of all entries, with line numbers where they are lines of a file.
func (r *reading) contents(single bool) string {
	var b strings.Builder
	for _, e := range r.entries {
		if e.Content == nil {
			continue
		}
		if !single {
			fmt.Fprintf(&b, "==> %s <==\n", visible(e.Path))
		}
		text := numbered(*e.Content, e.first)
		b.WriteString(text)
		if text != "" && !strings.HasSuffix(text, "\n") && !single {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// data returns the entries with their contents.
func (r *reading) data(single bool) (map[string]any, error) {
	if !single {
		return map[string]any{"files": r.entries}, nil
	}
	return asObject(r.entries[0])
}

// numbered returns a text with the number of each line and a tab before it. first is the number of the first line; 0
// adds no numbers.
func numbered(text string, first int) string {
	if first <= 0 || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%d\t%s", first, line)
		first++
	}
	return b.String()
}

// fill sets the content, cut to room in each of its forms, to whole lines if possible.
func (e *fileRead) fill(content string, first, room int) {
	e.first = first
	size := func(text string) int { return max(asJSON(text), len(numbered(text, first))) }
	text := content
	for size(text) > room {
		text = string(whole([]byte(text[:min(len(text)-1, int(int64(len(text))*int64(room)/int64(size(text))))])))
		if text == "" {
			break
		}
	}
	e.Content = &text
	if len(text) == len(content) {
		return
	}
	e.Truncated = true
	lines := strings.Count(text, "\n")
	if lines == 0 { // the line is too long for any answer, so starting with it again would not help
		at := strings.IndexByte(content, '\n')
		if at < 0 || at == len(content)-1 {
			return
		}
		lines = 1
	}
	if first > 0 {
		e.NextLine = first + lines
	}
}

// asJSON returns the length of a text as JSON.
func asJSON(text string) int {
	data, _ := plainJSON(text)
	return len(data)
}

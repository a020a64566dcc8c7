package web

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/internal/page"
)

// The limits of a page of a plan: the number of files, the number of lines that are shown unfolded, and the bytes of a
// file on the page.
const (
	filesPerPage = 100
	openLines    = 600
	mostBytes    = 2 << 20
	mostOfFile   = 32 << 20
)

// view shows a plan on pages.
type view struct {
	*site
	at     string // the path of the pages, as HTML
	plan   *millrace.Plan
	digest string
	files  []change.Change
	kind   func(c change.Change) change.ChangeKind
	left   map[int]review.Choice
	hunks  map[int]int // the numbers of hunks of the read files whose hunks can be left out
	// whole means that nothing can be left out. yes is the text of the button that makes the change.
	whole bool
	yes   string
}

// newView returns the pages of a plan. At first everything is taken.
func newView(s *site, at string, plan *millrace.Plan, whole bool) (*view, error) {
	digest, err := plan.Digest()
	if err != nil {
		return nil, err
	}
	yes := "Apply what is taken"
	if whole {
		yes = "Approve this plan"
	}
	return &view{
		yes:  yes,
		site: s, at: at, plan: plan, digest: digest, files: review.Files(plan), whole: whole,
		kind: page.KindsOf(plan.Result().FilesChanged), left: make(map[int]review.Choice),
		hunks: make(map[int]int),
	}, nil
}

// number returns the number of a file of the plan.
func (v *view) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(v.files) {
		return 0, fmt.Errorf("unknown file %q", text)
	}
	return n, nil
}

// pageOf returns the address of the page with the number part, relative to the page of the plan.
func pageOf(part int) string {
	if part <= 0 {
		return ""
	}
	return "?page=" + strconv.Itoa(part+1)
}

// list shows the plan, a part of its files at a time.
func (v *view) list(w http.ResponseWriter, r *http.Request) {
	at, parts := v.part(r)
	var p page.Page
	v.head(&p)
	v.changes(&p, at, parts)
	v.buttons(&p)
	v.site.end(w, http.StatusOK, &p)
}

// changes writes a part of the files, in the form of the decision.
func (v *view) changes(p *page.Page, at, parts int) {
	p.WriteString("<h2>Changes</h2>\n")
	v.open(p, fmt.Sprintf("page:%d", at))
	v.pages(p, at, parts)
	lines := 0
	from, to := (at-1)*filesPerPage, min(at*filesPerPage, len(v.files))
	p.WriteString("<div class=\"beside\">\n")
	var files page.Page // written first, because the tree shows the rejected hunks
	for n := from; n < to; n++ {
		lines += v.file(&files, n, openLines-lines, mostBytes-int64(files.Len()))
	}
	v.tree(p, from, to)
	p.WriteString("<div>\n" + files.String())
	if len(v.files) == 0 {
		p.WriteString("<p class=\"quiet\">Nothing would change.</p>\n")
	}
	p.WriteString("</div>\n</div>\n")
	v.pages(p, at, parts)
}

// part returns the number of the requested part of the files, and the number of all parts.
func (v *view) part(r *http.Request) (at, parts int) {
	parts = max(1, (len(v.files)+filesPerPage-1)/filesPerPage)
	at, _ = strconv.Atoi(r.URL.Query().Get("page")) // the first part without a number
	return min(max(at, 1), parts), parts
}

// one shows a file of the plan on a page of its own.
func (v *view) one(w http.ResponseWriter, r *http.Request) {
	n, err := v.number(r.PathValue("n"))
	if err != nil {
		v.say(w, http.StatusNotFound, "Unknown file", err.Error())
		return
	}
	var p page.Page
	v.begin(&p, v.files[n].Path)
	p.WriteString("</header>\n")
	v.open(&p, fmt.Sprintf("file:%d", n))
	back := "Keep this and go back"
	if v.whole {
		back = "Back to the plan"
	}
	fmt.Fprintf(&p, "<p class=\"pages\"><button name=\"do\" value=\"show:%d\">%s</button>\n", n, back)
	v.sideButton(&p)
	p.WriteString("</p>\n")
	v.file(&p, n, 1<<30, mostOfFile)
	p.WriteString("</form>\n")
	v.site.end(w, http.StatusOK, &p)
}

// lines sends the lines of a file, for a page that shows the file already.
func (v *view) lines(w http.ResponseWriter, r *http.Request) {
	n, err := v.number(r.PathValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var p page.Page
	row, err := v.row(n)
	switch {
	case err != nil:
	case p.Lines(row):
		v.hunksShown(&p, n, row)
	default:
		p.Reset()
		p.Note("warn", "The lines are too long to be shown here.")
	}
	v.send(w, http.StatusOK, &p)
}

// head writes the summary of the plan.
func (v *view) head(p *page.Page) {
	result := v.plan.Result()
	title := cmp.Or(result.Name, "A plan without a name")
	if result.Restores != "" {
		title = "Take back " + result.Restores
	}
	v.begin(p, title)
	p.WriteString("<p class=\"line\">Nothing is written yet. Leave out what is not wanted, then apply the rest.</p>\n")
	p.Summary(result, v.digest)
	p.WriteString("</header>\n")
	v.keys(p)
	p.Steps(result)
}

// open begins the form of the decision. here is the name of the page, see where. The key Enter presses the first
// button.
func (v *view) open(p *page.Page, here string) {
	p.WriteString(`<form method="post" action="` + v.at + `decide" autocomplete="off">` + "\n" +
		hidden("form", v.form) + hidden("digest", v.digest) + hidden("here", here) + "\n")
}

// where returns the address of a name, relative to the page of the plan: "page:2" is a page, "file:7" is a file on a
// page of its own, "show:7" is a file on the page with other files. Other names have no address.
func (v *view) where(name string) (address string, ok bool) {
	kind, text, _ := strings.Cut(name, ":")
	if kind == "page" {
		n, _ := strconv.Atoi(text) // the first page for an invalid number
		return pageOf(n - 1), true
	}
	n, err := v.number(text)
	switch {
	case err != nil:
		return "", false
	case kind == "file":
		return "file/" + strconv.Itoa(n), true
	case kind == "show":
		return pageOf(n/filesPerPage) + "#f" + strconv.Itoa(n), true
	}
	return "", false
}

// move redirects to the address of a button, and reports whether the button has an address.
func (v *view) move(w http.ResponseWriter, r *http.Request) bool {
	to := r.PostForm.Get("do")
	if choice, ok := strings.CutPrefix(to, "lines:"); ok {
		v.side.Store(choice == "beside")
		to = r.PostForm.Get("here")
	}
	address, ok := v.where(to)
	if ok {
		http.Redirect(w, r, html.UnescapeString(v.at)+address, http.StatusSeeOther)
	}
	return ok
}

// row reads a file for the page.
func (v *view) row(n int) (page.Row, error) {
	c := v.files[n]
	diff, err := page.Read(v.plan, c)
	row := page.Row{Change: c, Kind: v.kind(c), Difference: diff, Most: mostOfFile, Side: v.side.Load()}
	if err != nil {
		row.Note = err.Error()
		return row, err
	}
	if !v.whole && review.Divisible(c, len(diff.Hunks)) {
		v.hunks[n] = len(diff.Hunks)
		row.Box = func(h int) string {
			return fmt.Sprintf(`<label>%s take</label>`, v.box(fmt.Sprintf("%v.%d", n, h),
				!slices.Contains(v.left[n].Hunks, h), ""))
		}
	}
	return row, nil
}

// box returns a checkbox. It is ticked if its file or hunk is taken.
func (v *view) box(value string, ticked bool, label string) string {
	text := fmt.Sprintf("<input type=\"checkbox\" name=\"take\" value=%q", value)
	if ticked {
		text += ` checked="checked"`
	}
	if label != "" {
		text += fmt.Sprintf(" aria-label=%q", label)
	}
	return text + "/>"
}

// file writes a file with its checkboxes. It unfolds the changed lines if they are not more than lines, and returns the
// number of unfolded lines.
func (v *view) file(p *page.Page, n, lines int, bytes int64) int {
	number := strconv.Itoa(n)
	class := "file"
	if c := v.files[n]; review.Divisible(c, 1) && review.Renames(c) {
		class = "file renames" // leaving its last hunk does not leave the file
	}
	fmt.Fprintf(p, "<div class=\"%s\" id=\"f%d\">\n", class, n)
	if !v.whole {
		fmt.Fprintf(p, "<label>%s</label>\n%s\n", v.box(number, !v.left[n].All, "take file "+strconv.Itoa(n+1)),
			hidden("shown", number))
	}
	defer p.WriteString("</div>\n")
	row, err := v.row(n)
	count := max(1, row.Added+row.Removed)
	row.Open = err != nil || count <= lines
	row.Most = bytes
	begin := p.Len()
	if row.Open && p.Row(row) {
		v.hunksShown(p, n, row)
		return count
	}
	p.Truncate(begin)
	row.Most, row.Open = mostOfFile, false
	row.More = fmt.Sprintf("<p class=\"facts\"><a class=\"lines\" href=\"%sfile/%d\">Show the lines</a></p>\n", v.at, n)
	p.Row(row)
	return 0
}

// hunksShown writes the hidden fields for the shown hunks of a file.
func (v *view) hunksShown(p *page.Page, n int, row page.Row) {
	if row.Box == nil {
		return
	}
	for h := range row.Hunks {
		p.WriteString(hidden("shown", fmt.Sprintf("%v.%d", n, h)) + "\n")
	}
}

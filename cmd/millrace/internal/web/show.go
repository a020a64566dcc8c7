package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/htmlreport/page"
)

// The bounds of a page of a plan: how many files it has, how many lines it shows without being asked, and how many
// bytes a file has at most on it.
const (
	filesPerPage = 100
	openLines    = 600
	mostBytes    = 2 << 20
	mostOfFile   = 32 << 20
)

// pageOf returns the address of the page that shows a file of a number, from the page of the plan.
func pageOf(part int) string {
	if part <= 0 {
		return ""
	}
	return "?page=" + strconv.Itoa(part+1)
}

// list shows the plan, a part of its files at a time.
func (d *deciding) list(w http.ResponseWriter, r *http.Request) {
	parts := max(1, (len(d.files)+filesPerPage-1)/filesPerPage)
	at, _ := strconv.Atoi(r.URL.Query().Get("page")) // none is the first
	at = min(max(at, 1), parts)
	var p page.Page
	d.head(&p)
	d.open(&p)
	pages(&p, at, parts)
	lines, bytes := 0, int64(0)
	for n := (at - 1) * filesPerPage; n < min(at*filesPerPage, len(d.files)); n++ {
		before := p.Len()
		lines += d.file(&p, n, openLines-lines, mostBytes-bytes)
		bytes += int64(p.Len() - before)
	}
	if len(d.files) == 0 {
		p.WriteString("<p class=\"quiet\">Nothing would change.</p>\n")
	}
	pages(&p, at, parts)
	d.buttons(&p)
	d.site.end(w, http.StatusOK, &p)
}

// one shows a file of the plan on a page of its own.
func (d *deciding) one(w http.ResponseWriter, r *http.Request) {
	n, err := d.number(r.PathValue("n"))
	if err != nil {
		d.say(w, http.StatusNotFound, "There is no such file", err.Error())
		return
	}
	var p page.Page
	d.begin(&p, d.files[n].Path)
	p.WriteString("</header>\n")
	d.open(&p)
	d.file(&p, n, 1<<30, mostOfFile)
	fmt.Fprintf(&p, "<p class=\"pages\"><button name=\"do\" value=\"page:%d\">Keep this and go back</button></p>\n</form>\n",
		n/filesPerPage+1)
	d.site.end(w, http.StatusOK, &p)
}

// lines sends the lines of a file, for a page that shows the file already.
func (d *deciding) lines(w http.ResponseWriter, r *http.Request) {
	n, err := d.number(r.PathValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var p page.Page
	row, err := d.row(n)
	if err == nil && !p.Lines(row) {
		p.Reset()
		p.Note("warn", "The lines are too long to be shown here.")
	}
	if err == nil {
		d.hunksShown(&p, n, row)
	}
	d.send(w, http.StatusOK, &p)
}

// head writes what the plan is as a whole.
func (d *deciding) head(p *page.Page) {
	result := d.shown.Result()
	title := result.Name
	if result.Restores != "" {
		title = "Take back " + result.Restores
	}
	d.begin(p, title)
	p.WriteString("<p class=\"line\">Nothing is written yet. Leave out what is not wanted, then apply the rest.</p>\n")
	p.Summary(result, d.digest)
	p.WriteString(`</header>
<details class="keys"><summary>Keys</summary>
<p><code>y</code> <code>n</code> take or leave this hunk or file; <code>a</code> <code>d</code> with the rest of the file;
<code>A</code> <code>D</code> with the rest of the page; <code>j</code> the next; <code>b</code> the one before;
<code>?</code> these keys</p>
</details>
`)
	p.Steps(result)
	p.WriteString("<h2>Changes</h2>\n")
}

// open begins the form of the decision. Its first button is what the key Enter presses.
func (d *deciding) open(p *page.Page) {
	p.WriteString(`<form method="post" action="` + d.base + `decide" autocomplete="off">` + "\n" +
		hidden("form", d.form) + hidden("digest", d.digest) + "\n")
}

// buttons ends the form with what is decided about the whole plan.
func (d *deciding) buttons(p *page.Page) {
	p.WriteString("<div class=\"decide\">\n")
	if review.NeedsWord(d.shown.Result()) {
		p.WriteString("<label>Type yes to apply it: <input type=\"text\" name=\"word\"/></label>\n")
	}
	p.WriteString("<button class=\"yes\" name=\"do\" value=\"apply\">Apply what is taken</button>\n" +
		"<button class=\"no\" name=\"do\" value=\"reject\">Reject the plan</button>\n</div>\n</form>\n")
}

// pages writes the buttons to other pages, which keep the choices of this page.
func pages(p *page.Page, at, parts int) {
	p.WriteString("<div class=\"pages\">\n")
	button := func(to int, text string) {
		fmt.Fprintf(p, "<button name=\"do\" value=\"page:%d\">%s</button>\n", to, text)
	}
	button(at, "Keep these choices")
	if parts > 1 {
		fmt.Fprintf(p, "<span>Page %d of %d</span>\n", at, parts)
		if at > 1 {
			button(1, "First")
			button(at-1, "Back")
		}
		if at < parts {
			button(at+1, "Next")
			button(parts, "Last")
		}
	}
	p.WriteString("</div>\n")
}

// row reads a file for the page.
func (d *deciding) row(n int) (page.Row, error) {
	c := d.files[n]
	diff, err := page.Read(d.shown, c)
	row := page.Row{Change: c, Kind: d.kinds.Of(c), Difference: diff, Most: mostOfFile}
	if err != nil {
		row.Note = err.Error()
		return row, err
	}
	if review.Divisible(c, len(diff.Hunks)) {
		row.Box = func(h int) string {
			return fmt.Sprintf(`<label>%s take</label>`, d.box(fmt.Sprintf("%d.%d", n, h),
				!slices.Contains(d.left[n].Hunks, h), ""))
		}
	}
	return row, nil
}

// box returns a box that is ticked if what it stands for is taken.
func (d *deciding) box(value string, ticked bool, label string) string {
	text := fmt.Sprintf("<input type=\"checkbox\" name=\"take\" value=%q", value)
	if ticked {
		text += ` checked="checked"`
	}
	if label != "" {
		text += fmt.Sprintf(" aria-label=%q", label)
	}
	return text + "/>"
}

// file writes a file with its boxes. Its lines come with it if there are not more of them. It returns how many are shown.
func (d *deciding) file(p *page.Page, n, lines int, bytes int64) int {
	number := strconv.Itoa(n)
	fmt.Fprintf(p, "<div class=\"file\" id=\"f%d\">\n<label>%s</label>\n%s\n", n,
		d.box(number, !d.left[n].All, "take file "+strconv.Itoa(n+1)), hidden("shown", number))
	defer p.WriteString("</div>\n")
	row, err := d.row(n)
	count := max(1, row.Added+row.Removed)
	row.Open = err != nil || count <= lines
	row.Most = bytes
	begin := p.Len()
	if row.Open && p.Row(row) {
		d.hunksShown(p, n, row)
		return count
	}
	p.Truncate(begin)
	row.Most, row.Open = mostOfFile, false
	row.More = fmt.Sprintf("<p class=\"facts\"><a class=\"lines\" href=\"%sfile/%d\">Show the lines</a></p>\n", d.base, n)
	p.Row(row)
	return 0
}

// hunksShown writes which hunks of a file a form shows.
func (d *deciding) hunksShown(p *page.Page, n int, row page.Row) {
	if row.Box == nil {
		return
	}
	for h := range row.Hunks {
		p.WriteString(hidden("shown", fmt.Sprintf("%d.%d", n, h)) + "\n")
	}
}

package web

import (
	"fmt"

	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/internal/page"
)

// keys writes the keys of the page.
func (v *view) keys(p *page.Page) {
	p.WriteString("<details class=\"keys\"><summary>Keys</summary>\n<p>")
	if !v.whole {
		p.WriteString(`<code>y</code> <code>n</code> take or leave this hunk or file;
<code>a</code> <code>d</code> the rest of the file; <code>A</code> <code>D</code> the rest of the page;
<code>t</code> take this hunk and all further hunks of the same steps;
<code>j</code> the next; <code>b</code> the one before; <code>p</code> open or fold the lines of the file;
`)
	}
	p.WriteString("<code>q</code> to the button that makes the change, <code>Q</code> to the button that rejects it; " +
		"<code>?</code> these keys</p>\n</details>\n")
}

// sideButton writes the button that switches between two columns and one column for old and new lines.
func (v *view) sideButton(p *page.Page) {
	if v.side.Load() {
		p.WriteString("<button name=\"do\" value=\"lines:below\">In one column</button>\n")
		return
	}
	p.WriteString("<button name=\"do\" value=\"lines:beside\">Side by side</button>\n")
}

// buttons ends the form with the buttons for the whole plan.
func (v *view) buttons(p *page.Page) {
	p.WriteString("<div class=\"decide\">\n")
	if review.NeedsWord(v.plan.Result()) {
		p.WriteString("<label>Type yes to apply it: <input type=\"text\" name=\"word\"/></label>\n")
	}
	p.WriteString("<button class=\"yes\" name=\"do\" value=\"apply\">" + v.yes + "</button>\n" +
		"<button class=\"no\" name=\"do\" value=\"reject\">Reject it</button>\n</div>\n</form>\n")
}

// pages writes the buttons to other pages, which keep the choices of this page.
func (v *view) pages(p *page.Page, at, parts int) {
	p.WriteString("<div class=\"pages\">\n")
	button := func(to int, text string) {
		fmt.Fprintf(p, "<button name=\"do\" value=\"page:%d\">%s</button>\n", to, text)
	}
	if !v.whole {
		button(at, "Keep these choices")
	}
	v.sideButton(p)
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

package htmlreport

import (
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/page"
)

// paper is a page of the report. Everything that is put into it goes through Text, unless it is a constant.
type paper struct{ page.Page }

// begin writes all up to the heading.
func (p *paper) begin(title string, r *millrace.Result) {
	if title == "" {
		title = r.Name
	}
	p.WriteString(`<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="referrer" content="no-referrer"/>
<title>`)
	p.Title(title)
	p.WriteString("</title>\n<style>" + page.Style + "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>")
	p.Message(title)
	p.WriteString("</h1>\n<p class=\"line\">")
	switch {
	case r.Restores != "":
		p.Message("Would take back what was committed as " + r.Restores + ".")
	case !r.Success:
		p.WriteString("The plan has failed.")
	default:
		fmt.Fprintf(p, "%d of %d steps planned.", r.CompletedSteps, r.TotalSteps)
	}
	p.WriteString(" Nothing was written.</p>\n")
}

// summary writes the facts of the whole plan, up to its changes.
func (p *paper) summary(r *millrace.Result, digest string) {
	p.Summary(r, digest)
	p.WriteString("</header>\n")
	p.Steps(r)
	p.WriteString("<section>\n<h2>Changes</h2>\n")
}

// end writes the end of the page. all is the number of changes, hidden the number of changes that were not listed.
func (p *paper) end(all, hidden int) {
	if all == 0 {
		p.WriteString("<p class=\"quiet\">Nothing would change.</p>\n")
	}
	if hidden > 0 {
		fmt.Fprintf(p, "<p class=\"quiet\">%d more are not listed: the report would be too large.</p>\n", hidden)
	}
	p.WriteString("</section>\n<footer>Made by millrace.</footer>\n</main>\n</body>\n</html>\n")
}

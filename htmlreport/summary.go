package htmlreport

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
)

// Few warnings are shown, more are folded, and very many are counted.
const (
	fewWarnings  = 3
	mostWarnings = 50
)

// begin writes all up to the heading.
func (p *page) begin(title string, r *millrace.Result) {
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
	// Only text counts in a title.
	var plain page
	plain.message(title)
	p.WriteString(strings.NewReplacer("<i>", "", "</i>", "").Replace(plain.String()))
	p.WriteString("</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>")
	p.message(title)
	p.WriteString("</h1>\n<p class=\"line\">")
	switch {
	case r.Restores != "":
		p.message("Would take back what was committed as " + r.Restores + ".")
	case !r.Success:
		p.WriteString("The plan has failed.")
	default:
		fmt.Fprintf(p, "%d of %d steps planned.", r.CompletedSteps, r.TotalSteps)
	}
	p.WriteString(" Nothing was written.</p>\n")
}

// summary writes what the plan is as a whole.
func (p *page) summary(r *millrace.Result, digest string) {
	f := r.FilesChanged
	p.WriteString("<dl>\n")
	if level := r.OverallRiskLevel.String(); level != "" {
		level = strings.ToLower(level)
		p.fact("Risk", `<strong class="`+level+`">`+level+`</strong>`)
	}
	p.fact("Files", strconv.Itoa(f.Count()))
	if r.Restores == "" {
		p.fact("Edits", strconv.Itoa(r.TotalEdits))
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"Modified", len(f.Modified)}, {"Created", len(f.Created)}, {"Renamed", len(f.Renamed)},
		{"Deleted", len(f.Deleted)}} {
		if count.n > 0 {
			p.fact(count.name, strconv.Itoa(count.n))
		}
	}
	p.WriteString("</dl>\n")
	if digest != "" {
		p.WriteString(`<p class="digest">Digest <code>` + digest + "</code></p>\n")
	}
	switch {
	case r.BlockReason != "":
		p.note("stop", "A run would be refused: "+r.BlockReason)
	case r.Error != "":
		p.note("stop", r.Error)
	}
	p.warnings(r.AllWarnings())
	p.WriteString("</header>\n")
}

func (p *page) warnings(all []string) {
	if len(all) > fewWarnings {
		fmt.Fprintf(p, "<details class=\"warnings\"><summary>%d warnings</summary>\n", len(all))
		defer p.WriteString("</details>\n")
	}
	for i, warning := range all {
		if i == mostWarnings {
			p.note("warn", fmt.Sprintf("%d more warnings", len(all)-i))
			return
		}
		p.note("warn", warning)
	}
}

// fact writes a number with its name; the value is HTML.
func (p *page) fact(name, value string) {
	p.WriteString("<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n")
}

func (p *page) note(class, message string) {
	p.WriteString(`<p class="` + class + `">`)
	p.message(message)
	p.WriteString("</p>\n")
}

// steps writes a table of what the steps have done.
func (p *page) steps(r *millrace.Result) {
	if len(r.Results) > 0 {
		p.WriteString(
			"<section>\n<h2>Steps</h2>\n<table class=\"steps\">\n<thead><tr><th>Step</th><th>Action</th><th class=\"r\">Files</th>" +
				"<th class=\"r\">Edits</th></tr></thead>\n<tbody>\n")
		for _, s := range r.Results {
			p.step(s)
		}
		p.WriteString("</tbody>\n</table>\n</section>\n")
	}
	p.WriteString("<section>\n<h2>Changes</h2>\n")
}

func (p *page) step(s millrace.StepResult) {
	class, why := "", ""
	switch {
	case s.Skipped:
		class, why = ` class="skipped"`, "skipped: "+s.SkipReason
	case s.Failed():
		class, why = ` class="failed"`, "failed: "+s.Error
	}
	p.WriteString("<tr" + class + "><td><code>")
	p.text(s.StepID)
	p.WriteString("</code>")
	if why != "" {
		p.WriteString(` <small>`)
		p.message(why)
		p.WriteString(`</small>`)
	}
	p.WriteString("</td><td>")
	p.text(s.Action)
	if s.Tool != "" {
		p.WriteString(" ")
		p.message(s.Tool)
	}
	fmt.Fprintf(p, "</td><td class=\"r\">%d</td><td class=\"r\">%d</td></tr>\n", len(s.FilesMatched), s.EditsApplied)
}

// end closes what is open. hidden of all changes were not listed.
func (p *page) end(all, hidden int) {
	if all == 0 {
		p.WriteString("<p class=\"quiet\">Nothing would change.</p>\n")
	}
	if hidden > 0 {
		fmt.Fprintf(p, "<p class=\"quiet\">%d more are not listed: the report would be too large.</p>\n", hidden)
	}
	p.WriteString("</section>\n<footer>Made by millrace.</footer>\n</main>\n</body>\n</html>\n")
}

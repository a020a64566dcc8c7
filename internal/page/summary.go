package page

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

// Title writes the text of a title element: there, only text counts.
func (p *Page) Title(title string) {
	var plain Page
	plain.Message(title)
	p.WriteString(strings.NewReplacer("<i>", "", "</i>", "").Replace(plain.String()))
}

// Summary writes the facts of the whole plan: risk, counts, digest, the reasons of a refusal and the warnings. A plan
// that cannot be committed has the digest "".
func (p *Page) Summary(r *millrace.Result, digest string) {
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
		p.Note("stop", "A run would be refused: "+r.BlockReason)
	case r.Error != "":
		p.Note("stop", r.Error)
	}
	p.warnings(r.AllWarnings())
}

func (p *Page) warnings(all []string) {
	if len(all) > fewWarnings {
		fmt.Fprintf(p, "<details class=\"warnings\"><summary>%d warnings</summary>\n", len(all))
		defer p.WriteString("</details>\n")
	}
	for i, warning := range all {
		if i == mostWarnings {
			p.Note("warn", fmt.Sprintf("%d more warnings", len(all)-i))
			return
		}
		p.Note("warn", warning)
	}
}

// fact writes a number with its name; the value is HTML.
func (p *Page) fact(name, value string) {
	p.WriteString("<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n")
}

// Note writes a message on a background of its own: of the class "warn" or "stop".
func (p *Page) Note(class, message string) {
	p.WriteString(`<p class="` + class + `">`)
	p.Message(message)
	p.WriteString("</p>\n")
}

// Steps writes a table of what the steps have done.
func (p *Page) Steps(r *millrace.Result) {
	if len(r.Results) > 0 {
		p.WriteString(
			"<section>\n<h2>Steps</h2>\n<table class=\"steps\">\n<thead><tr><th>Step</th><th>Action</th>" +
				"<th class=\"r\">Files</th><th class=\"r\">Edits</th></tr></thead>\n<tbody>\n")
		for _, s := range r.Results {
			p.step(s)
		}
		p.WriteString("</tbody>\n</table>\n</section>\n")
	}
}

func (p *Page) step(s millrace.StepResult) {
	class, why := "", ""
	switch {
	case s.Skipped:
		class, why = ` class="skipped"`, "skipped: "+s.SkipReason
	case s.Failed():
		class, why = ` class="failed"`, "failed: "+s.Error
	}
	p.WriteString("<tr" + class + "><td><code>")
	p.Text(s.StepID)
	p.WriteString("</code>")
	if why != "" {
		p.WriteString(` <small>`)
		p.Message(why)
		p.WriteString(`</small>`)
	}
	p.WriteString("</td><td>")
	p.Text(s.Action)
	if s.Tool != "" {
		p.WriteString(" ")
		p.Message(s.Tool)
	}
	fmt.Fprintf(p, "</td><td class=\"r\">%d</td><td class=\"r\">%d</td></tr>\n", len(s.FilesMatched), s.EditsApplied)
}

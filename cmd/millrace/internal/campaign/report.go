package campaign

import (
	"fmt"
	"html/template"
	"strings"
	"text/tabwriter"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/fleet"
)

// reportFormats are the words of --format for commands that end with a report.
var reportFormats = []string{door.FormatReport, "stat", door.FormatJSON, "html", door.FormatNone}

// summary counts the last outcomes.
func (o *opened) summary() fleet.Summary {
	sum := fleet.Summary{Campaign: o.ID}
	for _, r := range o.outcomes() {
		sum.Add(r.Outcome)
	}
	return sum
}

// report writes the outcomes of all trees, in the format of the flags.
func (o *opened) report(p door.Program) error {
	all := o.outcomes()
	switch p.Format() {
	case door.FormatNone:
		return nil
	case door.FormatJSON:
		return p.WriteJSON(map[string]any{
			"id": o.ID, "created": o.Created, "file": o.File, "planned": o.Planned, "summary": o.summary(),
			"targets": all,
		})
	case "html":
		var b strings.Builder
		if err := page.Execute(&b,
			map[string]any{"ID": o.ID, "Created": o.Created, "File": o.File, "Sum": o.summary(),
				"Rows": all}); err != nil {
			return err
		}
		return p.Write(b.String())
	case "stat":
		var b strings.Builder
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, r := range all {
			_, _ = fmt.Fprintf(table, "%d files\t%d edits\t\x00%s\n", r.Outcome.Files, r.Outcome.Edits,
				render.Line(r.Outcome.Target.ID))
		}
		_ = table.Flush() // a Builder never fails
		return p.WriteReport(strings.ReplaceAll(b.String(), "\x00", "  ") + o.summary().String())
	}
	var b strings.Builder
	for _, r := range all {
		b.WriteString(o.line(r) + "\n")
	}
	return p.WriteReport(b.String() + o.summary().String())
}

// page is the report in HTML. It has no script, and loads nothing.
var page = template.Must(template.New("").Funcs(template.FuncMap{"word": record.word}).Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{{.ID}}</title>
<style>
:root { color-scheme: light dark; font-family: sans-serif }
body { margin: 1em }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #8888; padding: .3em; text-align: left; overflow-wrap: anywhere }
.failed { font-weight: bold }
</style>
<h1>{{.ID}}</h1>
<p>{{.File}}, {{.Created.Format "2006-01-02 15:04"}}</p>
<p>{{.Sum}}</p>
<table>
<thead><tr><th>Tree<th>State<th>Files<th>Edits<th>Risk<th>Message</thead>
<tbody>
{{range .Rows}}<tr class="{{.Outcome.Status}}"><td>{{.Outcome.Target.ID}}<td>{{word .}}<td>{{.Outcome.Files}}<td>{{.Outcome.Edits}}<td>{{if .Outcome.Risk}}{{.Outcome.Risk}}{{end}}<td>{{.Outcome.Message}}
{{end}}</tbody>
</table>
</html>
`))

// Package htmlreport writes a [millrace.Plan] as one HTML file, for a person to read before the plan is committed: as
// the artefact of a build, in a mail, on a wiki.
//
//	err := htmlreport.Write(file, plan, htmlreport.Options{})
//
// The file needs nothing else. It has no script, loads nothing and leads nowhere; a Content-Security-Policy in it
// forbids all of that, whatever a name or a text in the plan may try. Names and texts are shown by [fsutil.Visible]:
// characters that are not seen, or that turn the writing direction, are escaped and set apart. The file is well-formed
// XML, too.
//
// The same plan gives the same bytes.
package htmlreport

package bounds_test

import (
	"fmt"
	"strings"
)

// patch returns the parameters of a patch: texts with many sections and hunks that almost match, match everywhere or
// nowhere, with wrong line numbers, and results of earlier steps in place of a patch.
func (g *generator) patch(p object) object {
	p["format"] = g.pick("auto", "unified", "apply_patch", "search_replace")
	text := g.sections(p["format"].(string))
	if len(g.steps) > 0 && g.one(6) {
		text = "{{" + g.earlier() + "." + g.pick("aggregated_content", "aggregated_content", "count") + "}}"
	}
	p["patch"] = text
	if g.one(2) {
		p["path"] = g.file(0)
	}
	if g.one(4) {
		p["tolerance"] = g.pick("none", "trailing_space", "indent", "typography")
	}
	switch p["format"] {
	case "auto", "unified":
		if g.one(2) {
			p["fuzz"] = g.IntN(4)
		}
		if g.one(2) {
			p["ambiguous"] = "nearest"
		}
		if g.one(4) {
			p["strip"] = g.number()
		}
		if g.one(4) {
			p["reverse"] = true
		}
	}
	if g.one(2) {
		p["binary"] = true
	}
	if g.one(2) {
		p["overwrite"] = true
	}
	g.onError(p)
	return p
}

// sections returns a patch in the format, with as many files and hunks as there is room for, or few.
func (g *generator) sections(format string) string {
	if format == "auto" {
		format = g.pick("unified", "unified", "apply_patch", "search_replace")
	}
	room := g.room / 2 // JSON writes a line end as two bytes
	var b strings.Builder
	if format == "apply_patch" {
		b.WriteString("*** Begin Patch\n")
	}
	files := g.count(min(20, room/100))
	if g.one(4) {
		files = g.count(room / 100)
	}
	for i := range files {
		before := b.Len()
		g.section(&b, format, i)
		each := room / files
		for b.Len() < before+each {
			g.room = min(each/4, 4000)
			g.hunk(&b, format)
			if g.one(8) {
				break
			}
		}
	}
	if format == "apply_patch" && !g.one(20) {
		b.WriteString("*** End Patch\n")
	}
	text := b.String()
	return text[:min(len(text), room)]
}

// section begins a file.
func (g *generator) section(b *strings.Builder, format string, i int) {
	name := g.file(g.pick2(i, i, i, 0, 99_999))
	switch format {
	case "apply_patch":
		fmt.Fprintf(b, "*** %s File: %s\n", g.pick("Update", "Update", "Update", "Add", "Delete"), name)
		if g.one(10) {
			fmt.Fprintf(b, "*** Move to: new/%d\n", i)
		}
	case "search_replace":
		b.WriteString(g.pick(name, name, "`"+name+"`", "# "+name, "") + "\n")
	default:
		other := g.pick(name, name, name, fmt.Sprint("new/", i), g.file(i+1), "/dev/null")
		switch g.IntN(6) {
		case 0:
			fmt.Fprintf(b, "diff --git a/%s b/%s\nsimilarity index 100%%\n%s from %s\n%[3]s to %s\n", name, other, g.pick("rename", "copy"), name, other)
		case 1:
			fmt.Fprintf(b, "diff --git a/%s b/%[1]s\nnew file mode %s\n--- /dev/null\n+++ b/%[1]s\n", fmt.Sprint("new/", i), g.pick("100644", "100755", "120000"))
		case 2:
			fmt.Fprintf(b, "diff --git a/%s b/%[1]s\ndeleted file mode 100644\n--- a/%[1]s\n+++ /dev/null\n", name)
		case 3:
			fmt.Fprintf(b, "diff --git a/%s b/%[1]s\nindex %040d..%040d\nGIT binary patch\nliteral %d\n%s\n\n", name, 0, i, g.number(),
				g.pick("zcmV", "zcmZ?"+g.some("0"), "Hc$@<O00001", g.some("~")))
		default:
			fmt.Fprintf(b, "--- a/%s\n+++ b/%s\n", name, other)
		}
	}
}

// hunk writes a hunk whose lines occur in many places of the trees, in none, or almost in one.
func (g *generator) hunk(b *strings.Builder, format string) {
	line := func() string {
		return g.pick("", "", "a", "one line, no end ", "a b", "the const let", "foo", "\tfoo", g.some("a"), g.some(" "), fmt.Sprint(g.IntN(9973)), "“foo”")
	}
	var old, added []string
	for range g.count(g.room / 20) {
		old = append(old, line())
	}
	for range g.IntN(4) {
		added = append(added, line())
	}
	switch format {
	case "search_replace":
		fmt.Fprintf(b, "<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n", strings.Join(old, "\n"), strings.Join(added, "\n"))
		return
	case "apply_patch":
		fmt.Fprintf(b, "@@ %s\n", line())
	default:
		from := g.pick2(0, 1, 1, 2, 100, 9_999_999, 1<<31-1)
		switch g.IntN(4) {
		case 0:
			b.WriteString("@@\n")
		case 1:
			fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", from, g.number(), from, g.number())
		default:
			fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", from, len(old), from, len(added)+len(old)-1)
		}
	}
	for i, text := range old {
		sign := " "
		if i == 0 || g.one(5) {
			sign = "-"
		}
		b.WriteString(sign + text + "\n")
	}
	for _, text := range added {
		b.WriteString("+" + text + "\n")
	}
	if g.one(20) {
		b.WriteString(`\ No newline at end of file` + "\n")
	}
}

package bounds_test

import "fmt"

// params returns the parameters of an action, without its files.
func (g *generator) params(action string) object {
	p := object{}
	flag := func(names ...string) {
		for _, name := range names {
			if g.one(2) {
				p[name] = true
			}
		}
	}
	switch action {
	case "aggregate":
		if g.one(2) {
			p["separator"] = g.words()
		}
	case "merge":
		p["mode"] = g.pick("union", "intersection", "difference")
	case "copy", "rename":
		flag("overwrite", "preserve_paths")
		if delete(p, "to"); g.one(2) {
			p["destination"] = g.pick("new", g.some("n/"), "d00")
		} else {
			delete(p, "preserve_paths")
			p["to"] = g.pick("{{dir}}/{{stem}}_new{{ext}}", g.some("{{stem}}")+"{{name}}", g.some("{{dir}}/")+"{{name}}", "new/{{name}}", g.some("n"))
		}
	case "count_occurrences":
		flag("ignore_case")
		p["pattern"], p["mode"] = g.pattern()
	case "create":
		flag("overwrite")
		p["content"] = g.words()
		p["paths"] = g.names()
	case "delete":
		flag("permanent", "recursive")
	case "diff":
		p["file_a"], p["file_b"] = g.file(g.IntN(2)), g.file(g.IntN(3))
		if g.one(2) {
			p["context"] = g.number()
		}
	case "edit":
		flag("binary", "ignore_case")
		p["old_text"], p["mode"] = g.pattern()
		p["new_text"] = g.replacement()
		g.onError(p)
	case "edit_files":
		return g.editFiles()
	case "list":
		p["depth"] = g.pick2(-1, 1, 3)
		flag("no_ignore")
		g.globs(p)
	case "multi_edit":
		flag("binary", "ignore_case")
		var edits []object
		each := g.room
		for range g.count(60) {
			g.room = each / 60
			edits = append(edits, object{"old_text": g.literal(), "new_text": g.words()})
		}
		p["edits"], p["mode"] = edits, g.pick("sequential", "simultaneous")
		g.onError(p)
	case "regex_transform":
		flag("binary")
		var patterns []object
		each := g.room
		n := g.count(100)
		for range n {
			g.room = each / n
			patterns = append(patterns, object{"pattern": g.regex(), "replacement": g.replacement(), "flags": g.pick("", "m", "s", "i", "ims")})
		}
		p["patterns"] = patterns
		g.onError(p)
	case "pattern_replace":
		flag("binary", "no_ignore", "quiet")
		p["recursive"] = !g.one(4)
		p["file_pattern"] = g.pick("*", "*.txt", "**", "f0.txt", g.glob())
		p["syntax"] = g.pick("ere", "bre", "re2")
		p["sed_pattern"] = g.script()
		g.onError(p)
	case "patch":
		return g.patch(p)
	case "read_ranges":
		if g.one(2) {
			var ranges []object
			for range g.count(g.room / 40) {
				ranges = append(ranges, object{"start": 1 + g.IntN(1000), "end": -1 - g.IntN(1000)})
			}
			p["ranges"] = ranges
		}
		g.onError(p)
	case "search":
		flag("ignore_case", "no_ignore")
		p["pattern"], p["mode"] = g.pattern()
		switch g.IntN(6) {
		case 0:
			p["include_content"] = true
		case 1:
			p["lines"] = true
		case 2:
			p["context_lines"] = g.number()
		case 3:
			p["without_match"] = true
		}
		if g.one(3) {
			g.globs(p)
		}
	}
	return p
}

func (g *generator) editFiles() object {
	var files []object
	room := g.room
	first := g.pick2(1, 1, 5, 10_000)
	names := []string{g.file(0), "new.txt", g.file(1), g.file(2), g.file(3)}[:1+g.IntN(5)]
	for _, name := range names {
		var edits []object
		if name == "new.txt" {
			edits = append(edits, object{"command": "create", "file_text": g.words()})
		}
		n := g.count(room / len(names) / 100)
		for i := range n {
			g.room = room / len(names) / n / 2
			switch g.IntN(4) {
			case 0:
				edits = append(edits, object{"command": "str_replace", "old_str": g.literal(), "new_str": g.words(), "replace_all": true})
			case 1:
				edits = append(edits, object{"command": "insert", "insert_line": first + i*2, "new_str": g.words()})
			case 2:
				edits = append(edits, object{"command": "append", "new_str": g.words()})
			default:
				edits = append(edits, object{"command": "replace_lines", "start_line": first + i*2, "end_line": first + i*2 + g.IntN(2), "new_str": g.words()})
			}
		}
		files = append(files, object{"path": name, "edits": edits})
	}
	p := object{"file_edits": files, "eol": g.pick("match", "as_given")}
	g.onError(p)
	return p
}

func (g *generator) onError(p object) {
	if g.one(2) {
		p["on_error"] = "continue"
	}
}

// count returns a number of things: a few, or as many as there is room for.
func (g *generator) count(most int) int {
	most = max(1, most)
	if g.one(2) {
		return 1 + g.IntN(min(3, most))
	}
	return 1 + g.IntN(most)
}

func (g *generator) number() int { return g.pick2(0, 1, 3, 1000, 1<<31-1) }

func (g *generator) pick2(from ...int) int { return from[g.IntN(len(from))] }

func (g *generator) globs(p object) {
	for _, name := range []string{"include", "exclude"} {
		var list []string
		for range g.IntN(3) {
			list = append(list, g.glob())
		}
		if list != nil {
			p[name] = list
		}
	}
	if g.one(4) {
		p["file_types"] = []string{".txt"}
	}
}

// files returns names of files, or the template of a list.
func (g *generator) files() any {
	if len(g.steps) > 0 && g.one(2) {
		return g.pick("{{"+g.earlier()+".files}}", "{{"+g.earlier()+".files}}")
	}
	list := []string{}
	for i := range g.pick2(1, 1, 1, 2, 2, 10) {
		list = append(list, g.file(i))
	}
	return list
}

// names returns new names.
func (g *generator) names() []string {
	var list []string
	for i := range g.count(g.room / 24) {
		list = append(list, fmt.Sprintf("%s%d", g.pick("n", "n/", "m/n/", "f"), i))
	}
	return list
}

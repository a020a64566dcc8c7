package oneline

import (
	"path"
	"strings"
)

// globSigns are the characters that make an argument a glob; a backslash quotes the character after it.
const globSigns = `*?[{`

func isGlob(argument string) bool { return strings.ContainsAny(argument, globSigns) }

// escape returns the glob that matches only the name.
func escape(name string) string {
	var b strings.Builder
	for _, c := range name {
		if strings.ContainsRune(globSigns+`]}\,`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// glob is a glob in an argument: it matches paths below a directory.
type glob struct {
	dir  string // relative to the root of the tree
	rest string // the glob, relative to dir
}

// glob parses an argument. Unlike a glob of a pipeline, a glob without a slash only matches names in the working
// directory.
func (w Where) glob(argument string) (glob, error) {
	fixed, rest := "", w.slashes(argument)
	for {
		first, after, more := strings.Cut(rest, "/")
		if !more || strings.ContainsAny(first, globSigns+`\`) {
			break
		}
		fixed, rest = fixed+first+"/", after
	}
	for strings.HasPrefix(rest, "/") {
		rest = rest[1:]
	}
	for _, part := range strings.Split(rest, "/") {
		if part == ".." {
			return glob{}, usage("write the directories before the first sign of a glob", "'%s' has '..' within a glob",
				shown(argument))
		}
	}
	dir := w.dir()
	if fixed != "" {
		var err error
		if dir, err = w.place(fixed); err != nil {
			return glob{}, err
		}
	}
	return glob{dir, rest}, nil
}

// deep reports whether the glob matches at any depth.
func (g glob) deep() bool { return strings.Contains(g.rest, "**") }

// depth returns how many levels below its directory the glob can match, -1 for all.
func (g glob) depth() int {
	if g.deep() {
		return -1
	}
	return 1 + strings.Count(g.rest, "/")
}

// whole returns the glob relative to the root of the tree.
func (g glob) whole() string {
	if g.dir == "." {
		return g.rest
	}
	return escape(g.dir) + "/" + g.rest
}

// from returns the glob relative to its own directory or one above it.
func (g glob) from(dir string) string {
	if dir == g.dir {
		return g.rest
	}
	return escape(below(g.dir, dir)) + "/" + g.rest
}

// below returns a path relative to a directory above it.
func below(name, dir string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// common returns the deepest directory that contains or equals both.
func common(a, b string) string {
	for ; a != "."; a = path.Dir(a) {
		if a == b || strings.HasPrefix(b, a+"/") {
			return a
		}
	}
	return "."
}

// filters converts globs that select files to globs of a step: one with a slash is relative to the working directory,
// one without matches names at any depth. Globs that begin with "!" exclude.
func (w Where) filters(globs []string) (include, exclude []string, err error) {
	for _, text := range globs {
		list := &include
		if rest, ok := strings.CutPrefix(text, "!"); ok {
			list, text = &exclude, rest
		}
		if text == "" {
			return nil, nil, usage("", "a glob cannot be empty")
		}
		if text, err = w.Filter(text); err != nil {
			return nil, nil, err
		}
		*list = append(*list, text)
	}
	return include, exclude, nil
}

// Filter converts one such glob to a glob relative to the root of the tree.
func (w Where) Filter(text string) (string, error) {
	text = w.slashes(text)
	if trimmed := strings.TrimRight(text, "/"); !strings.Contains(trimmed, "/") {
		return text, nil // a name, perhaps of a directory
	}
	g, err := w.glob(text)
	if err != nil {
		return "", err
	}
	whole := g.whole()
	if whole == "" || whole == "." {
		return "", usage("write a glob of what is in it", "'%s' is the root of the tree", shown(text))
	}
	return anchored(whole), nil
}

// anchored returns a glob of a path in a form that a step does not treat as a name at any depth.
func anchored(text string) string {
	if strings.Contains(text, "/") {
		return text
	}
	return text + "{,/}"
}

// union returns a glob that matches everything that any of the globs matches.
func union(globs []string) string {
	if len(globs) == 1 {
		return globs[0]
	}
	parts := make([]string, len(globs))
	for i, text := range globs {
		parts[i] = part(text)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// part returns a glob for use within braces: its commas get a backslash.
func part(text string) string {
	var b strings.Builder
	braces, brackets := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '[':
			brackets = true
		case c == ']':
			brackets = false
		case c == '{' && !brackets:
			braces++
		case c == '}' && !brackets:
			braces--
		case c == ',' && !brackets && braces == 0:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// types converts "go", ".go" and "go,js" to file types.
func types(list []string) ([]string, error) {
	var all []string
	for _, text := range list {
		for _, one := range strings.Split(text, ",") {
			one = strings.TrimPrefix(strings.TrimSpace(one), ".")
			if one == "" || strings.ContainsAny(one, "/*?[{") {
				return nil, usage("write it as in -t go", "-t cannot be '%s'", shown(text))
			}
			all = append(all, "."+one)
		}
	}
	return all, nil
}

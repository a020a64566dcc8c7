package oneline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// byPattern reports whether a part of the names is changed, instead of the directories of the files.
func (t Transfer) byPattern() bool { return t.Regex || len(t.Replace) > 0 }

// pattern returns the regular expression for the part of the names, and its replacement.
func (t Transfer) pattern() (pattern, replacement string, err error) {
	switch {
	case t.Regex && len(t.Replace) > 0:
		return "", "", usage("leave one of them out", "-r and --replace exclude each other")
	case t.Regex && t.Old == "":
		return "", "", usage("", "the pattern cannot be empty")
	case t.Regex:
		return t.Old, t.New, nil
	case len(t.Replace) > 1:
		return "", "", usage("write -r 'OLD|OTHER' NEW, or one command for each", "--replace is given twice")
	}
	old, text, ok := strings.Cut(t.Replace[0], "=")
	if !ok || old == "" {
		return "", "", usage("write --replace OLD=NEW", "--replace cannot be '%s'", shown(t.Replace[0]))
	}
	return regexp.QuoteMeta(old), verbatim(text), nil
}

// verbatim returns the replacement that inserts exactly a text.
func verbatim(text string) string { return strings.NewReplacer("$", "$$", `\`, `\\`).Replace(text) }

// renamed returns the pipeline that changes a part of the names. The paths are relative to the working directory, or to
// the deepest directory above it that contains all sources.
func (w Where) renamed(t Transfer, expect millrace.Expect) (millrace.Pipeline, error) {
	var none millrace.Pipeline
	pattern, replacement, err := t.pattern()
	if err != nil {
		return none, err
	}
	from, err := w.sources(t.Sources, within)
	if err != nil {
		return none, err
	}
	if name, err := w.place(t.Old); t.Regex && len(t.Sources) == 0 && err == nil && w.look(name) != Nothing {
		return none, usage("leave -r out to move it, or name SRC too, such as . for the working directory",
			"-r is for a pattern, and '%s' is the name of a file or directory", shown(t.Old))
	}
	if len(t.Sources) == 0 {
		from.globs = []glob{{w.dir(), "**"}}
	}
	if t.NoIgnore && len(from.globs) == 0 {
		return none, usage("leave it out", "--no-ignore goes with globs")
	}
	base := w.dir()
	for _, g := range from.globs {
		base = common(base, g.dir)
	}
	for _, name := range from.files {
		base = common(base, name)
	}
	if base == "." {
		base = ""
	}
	act := func(files []string) actions.Action {
		return actions.Rename{Files: files, Pattern: pattern, Replacement: &replacement, Base: base,
			Overwrite: t.Overwrite}
	}
	work := moving{word: "move", noIgnore: t.NoIgnore, expect: expect, named: from.files}
	work.add(from, act, braced(pattern, replacement, base))
	return work.build(t.Common, "mv", pattern)
}

// checkDest refuses a DEST with glob characters, unless a file of that name exists. A bracket only counts as a glob
// character if a source glob has brackets, because many names have them.
func (w Where) checkDest(t Transfer, from sources) error {
	signs := "*?"
	if slices.ContainsFunc(from.globs, func(g glob) bool { return strings.Contains(g.rest, "[") }) {
		signs += "["
	}
	if !strings.ContainsAny(t.Dest, signs) {
		return nil
	}
	if name, err := w.place(t.Dest); err != nil || w.look(name) != Nothing {
		return err
	}
	command, hint := "rename", "write '{{stem}}' and '{{ext}}' for parts of the old names, or change a part with --replace OLD=NEW"
	if t.Copy {
		command, hint = "copy", "write '{{stem}}' and '{{ext}}' for parts of the old names"
	}
	return usage(hint+"; millrace do "+command+" files=SRC to=DEST takes any name",
		"'%s' is a glob, and DEST is a name",
		shown(t.Dest))
}

package elsewhere

import (
	"slices"
	"strings"
)

// perl translates perl -pi -e SCRIPT FILE….
func perl(args []string) []string {
	a := parsed(args, "e E")
	scripts := a.all("e E")
	if len(scripts) != 1 || !a.has("p i n") {
		return nil
	}
	s, ok := parseScript(scripts[0])
	if !ok || s.command != 's' || strings.ContainsAny(s.flags, "e") {
		return nil
	}
	whole := a.has("0") // the text is not processed line by line
	if !strings.Contains(s.flags, "g") && !whole {
		text := "s/" + strings.ReplaceAll(s.old, "/", `\/`) + "/" +
			strings.ReplaceAll(group.ReplaceAllString(s.new, `\$1`), "/", `\/`) + "/" + onlyFlags(s.flags, "i")
		return append([]string{"sed", "--syntax", "re2", text}, filesOr(a.words, "**")...)
	}
	old := s.old
	if whole && strings.Contains(s.flags, "s") {
		old = "(?s)" + old
	}
	words := []string{"replace", "-r"}
	if strings.Contains(s.flags, "i") {
		words = append(words, "-i")
	}
	if whole && !strings.Contains(s.flags, "g") {
		words = append(words, "--max", "1")
	}
	return append(append(words, old, s.dollars()), a.words...)
}

// onlyFlags returns the letters of flags that are in known.
func onlyFlags(flags, known string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(known, r) {
			return r
		}
		return -1
	}, flags)
}

// filesOr returns the files of a command, or a glob for all files if it names none.
func filesOr(files []string, otherwise string) []string {
	if len(files) > 0 {
		return files
	}
	return []string{otherwise}
}

// sd translates sd OLD NEW FILE….
func sd(args []string) []string {
	a := parsed(args, "f flags n max-replacements")
	if len(a.words) < 2 {
		return nil
	}
	words := []string{"replace"}
	if !a.has("s F fixed-strings string-mode") {
		words = append(words, "-r")
		a.words[1] = group.ReplaceAllString(a.words[1], `${$1}`)
	}
	for _, flags := range a.all("f flags") {
		words = append(words, dashed(onlyFlags(flags, "iw"))...)
	}
	if a.has("p preview") {
		words = append(words, "-n")
	}
	return append(words, a.words...)
}

// dashed returns a flag for each letter.
func dashed(letters string) []string {
	var flags []string
	for _, r := range letters {
		flags = append(flags, "-"+string(r))
	}
	return flags
}

// fastmod translates fastmod and codemod -m OLD NEW PATH….
func fastmod(args []string) []string {
	a := parsed(args, "d dir e extensions g glob iglob start end count exclude-paths")
	if len(a.words) < 2 {
		return nil
	}
	words := []string{"replace"}
	if a.has("F fixed-strings") {
		words = append(words, a.words[:2]...)
	} else {
		words = append(words, "-r", a.words[0], group.ReplaceAllString(backReference.ReplaceAllString(a.words[1], `${$1}`), `${$1}`))
	}
	words = append(append(words, a.words[2:]...), a.all("d dir")...)
	for _, list := range a.all("e extensions") {
		for ext := range strings.SplitSeq(list, ",") {
			words = append(words, "-t", strings.TrimPrefix(ext, "."))
		}
	}
	for _, glob := range a.all("g glob iglob") {
		words = append(words, "-g", glob)
	}
	if a.has("i ignore-case") {
		words = append(words, "-i")
	}
	if a.has("accept-all default-yes yes") {
		return append(words, "-y")
	}
	return append(words, "-p")
}

// comby translates comby MATCH REWRITE FILE-OR-EXTENSION….
func comby(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
			args[i] = "-" + arg // a long name with one dash
		}
	}
	a := parsed(args, "matcher d directory extensions f")
	if len(a.words) < 2 {
		return nil
	}
	words := []string{"replace", "-s", a.words[0], a.words[1]}
	if a.words[1] == "" && a.has("match-only") {
		words = []string{"search", "-s", a.words[0]}
	}
	words = append(words, a.all("d directory")...)
	for _, name := range append(slices.Clone(a.words[2:]), a.all("extensions f")...) {
		if ext, ok := strings.CutPrefix(name, "."); ok && !strings.Contains(ext, "/") {
			words = append(words, "-t", ext)
		} else {
			words = append(words, name)
		}
	}
	if a.has("i in-place") {
		words = append(words, "-y")
	}
	return words
}

// tr translates tr SET1 SET2, a filter.
func tr(args []string) []string {
	a := parsed(args, "")
	if len(a.words) != 2 || len(a.flags) > 0 || len(a.words[0]) != len(a.words[1]) || strings.ContainsAny(a.words[0]+a.words[1], `-[/\`) {
		return nil
	}
	return []string{"sed", "y/" + a.words[0] + "/" + a.words[1] + "/", "-"}
}

package elsewhere

// searchValued are the flags of grep, ack and ag that take a value.
const searchValued = "e regexp g glob t type A B C m include exclude exclude-dir"

// grep translates grep, ag and ack PATTERN PATH….
func grep(args []string) []string { return searched(parsed(args, searchValued)) }

// rg translates rg PATTERN PATH…; with -r it shows a replacement.
func rg(args []string) []string { return searched(parsed(args, searchValued+" r replace")) }

func searched(a arguments) []string {
	pattern := a.all("e regexp")
	rest := a.words
	if len(pattern) == 0 {
		if len(rest) == 0 {
			return nil
		}
		pattern, rest = rest[:1], rest[1:]
	}
	words, text := []string{"search"}, pattern[0]
	to := a.all("r replace")
	replaces := len(to) == 1 && to[0] != "" // the -r of grep has no value
	if replaces {
		words = []string{"replace"}
	}
	switch {
	case a.has("F fixed-strings Q literal"):
		words = append(words, map[bool][]string{false: {"-F"}}[replaces]...)
	case a.has("w word-regexp"):
		words, text = append(words, "-r"), `\b`+text+`\b`
	case replaces:
		words = append(words, "-r")
	}
	for _, flag := range []struct{ theirs, ours string }{
		{"i ignore-case", "-i"}, {"l files-with-matches", "-l"}, {"c count", "--count"},
	} {
		if a.has(flag.theirs) && (flag.ours == "-i" || !replaces) {
			words = append(words, flag.ours)
		}
	}
	words = append(words, text)
	if replaces {
		words = append(words, group.ReplaceAllString(to[0], `${$1}`))
	}
	words = append(words, rest...)
	for _, ext := range a.all("t type") {
		words = append(words, "-t", ext)
	}
	for _, glob := range a.all("g glob include") {
		words = append(words, "-g", glob)
	}
	for _, glob := range a.all("exclude exclude-dir") {
		words = append(words, "-g", "!"+glob)
	}
	return words
}

package main

import (
	"context"
	"strings"
)

// search is a job that finds files, or counts, in the corpus.
type search struct {
	name     string
	pattern  string // "" for the text of the scale
	mode     string
	fold     bool
	counts   bool
	ignore   bool     // obey .gitignore files
	slow     bool     // without the fast path
	flags    []string // of ripgrep
	goal     float64
	equality []string // flags of ripgrep for the comparison of lists, if they are others
}

// searchJobs are the searches of a file system that millrace knows.
func searchJobs() []job {
	regex := func(name, pattern string, goal float64) search {
		return search{name: "search/" + name, pattern: pattern, mode: "regex",
			flags: []string{"-uuu", "-l", "--no-unicode", "-e"}, goal: goal}
	}
	all := []search{
		{name: "search/literal", mode: "literal", flags: []string{"-uuu", "-lF"}, goal: 0.85},
		{name: "search/count", mode: "literal", counts: true, flags: []string{"-uuu", "--count-matches", "-F"}, goal: 0.95},
		{name: "search/ignore-case", mode: "literal", fold: true, flags: []string{"-uuu", "-liF"}, goal: 1.2},
		regex("regex-close", `func \(\w+ \*(\w+)\) Close\(\) error`, 1.0),
		regex("regex-readall", `(\w+)\.ReadAll\((\w+)\)`, 1.0),
		regex("regex-error", `\w+Error\(`, 1.0),
		regex("regex-no-literal", `[a-z]{3}[0-9]{4}[a-z]{2}`, 1.6),
		// The command of a user omits hidden files, unlike millrace, and obeys ignore files outside of the tree.
		{
			name: "search/gitignore", mode: "literal", ignore: true, flags: []string{"-lF"}, goal: 0.9,
			equality: []string{"--hidden", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-dot", "-lF"},
		},
	}
	return asJobs(all)
}

// slowJobs are searches through an afero.Fs without optional interfaces.
func slowJobs() []job {
	return asJobs([]search{
		{name: "slow/literal", mode: "literal", slow: true, flags: []string{"-uuu", "-lF"}, goal: 1.3},
		{name: "slow/count", mode: "literal", slow: true, counts: true, flags: []string{"-uuu", "--count-matches", "-F"}, goal: 1.3},
		{name: "slow/ignore-case", mode: "literal", slow: true, fold: true, flags: []string{"-uuu", "-liF"}, goal: 1.3},
	})
}

func asJobs(all []search) []job {
	jobs := make([]job, len(all))
	for i, s := range all {
		jobs[i] = job{name: s.name, needs: []string{"rg"}, run: s.run}
	}
	return jobs
}

// ours is millrace's side.
func (s search) ours(b *bench, out string, slow bool) command {
	flags := []string{"-print", "files"}
	if s.counts {
		flags[1] = "counts"
	}
	if slow {
		flags = append(flags, "-slow")
	}
	return b.ours(out, b.tree, encode(searching(s.text(b), s.mode, s.fold, !s.ignore)), flags...)
}

func (s search) text(b *bench) string {
	switch {
	case s.pattern != "":
		return s.pattern
	case s.fold:
		return b.scale.folded
	}
	return b.scale.literal
}

// run compares the two sides, then the lists that the last round has left.
func (s search) run(ctx context.Context, b *bench) (Outcome, error) {
	theirs := b.grep(s.name+"-rg", append(s.flags, s.text(b))...)
	ours := s.ours(b, s.name, s.slow)
	left, right, err := b.pairs(ctx, b.warm, always(ours), always(theirs), nil)
	if err != nil {
		return Outcome{}, err
	}
	rule := asText
	if s.equality != nil {
		rule = stopsAtNUL
		theirs = b.grep(s.name+"-equal", append(s.equality, s.text(b))...)
		if _, err := b.run(ctx, theirs); err != nil {
			return Outcome{}, err
		}
	}
	verified, err := sameLists(b.tree, ours.out, theirs.out, s.counts, rule)
	if err != nil {
		return Outcome{}, err
	}
	// The other way through the file system must find the same.
	other := s.ours(b, s.name+"-other", !s.slow)
	if _, err := b.run(ctx, other); err != nil {
		return Outcome{}, err
	}
	if _, err := equalLists(ours.out, other.out); err != nil {
		return Outcome{}, err
	}
	against := "rg " + strings.Join(append(s.flags, quote(s.text(b))), " ")
	return Outcome{Versus: []Versus{versus(against, verified, s.goal, left, right)}}, nil
}

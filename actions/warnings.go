package actions

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/match"
)

// Bounds on the search for lines that come near to a text that was not found.
const (
	nearestFiles = 20      // files looked into
	nearestHints = 3       // places told of
	nearestTexts = 5       // texts looked for
	nearestBytes = 8 << 20 // bytes of files looked at for one step
)

// warn tells the user of replacements that matched nothing anywhere, and of those that changed nothing where they did.
// That is no failure. There is one warning for all of them.
func (r *replacing) warn(ctx context.Context, c *Call, files []string) {
	if len(files) == 0 {
		return // the executor says that there was nothing to work on
	}
	var missing, idle []int
	for i := range r.rules.List {
		switch {
		case !r.rules.List[i].Matched.Load():
			missing = append(missing, i)
		case !r.rules.List[i].Changed.Load():
			idle = append(idle, i)
		}
	}
	var texts []string
	budget := nearestBytes
	for n, i := range missing {
		if n == nearestTexts {
			texts = append(texts, fmt.Sprintf("and %d more", len(missing)-n))
			break
		}
		texts = append(texts, r.missing(ctx, c, files, i, &budget))
	}
	for n, i := range idle {
		if n == nearestTexts {
			texts = append(texts, fmt.Sprintf("and %d more", len(idle)-n))
			break
		}
		texts = append(texts, fmt.Sprintf("%s %s is found, but what replaces it is the same", r.labels[i], quoted(r.rules.List[i].Pattern.Source())))
	}
	for i, rule := range r.rules.List {
		if rule.Laps.Load() {
			texts = append(texts, fmt.Sprintf("matches of %s %s overlap; they are counted from left to right, each from the end of the one before",
				r.labels[i], quoted(rule.Pattern.Source())))
			break
		}
	}
	texts = append(texts, r.doubts()...)
	if len(texts) > 0 {
		c.Warnf("%s", strings.Join(texts, "; "))
	}
}

// doubts tells of replacements in which something may have been meant otherwise.
func (r *replacing) doubts() []string {
	var texts []string
	for _, rule := range r.rules.List {
		if doubt := rule.Template.Doubt(); doubt != "" && len(texts) < nearestTexts {
			texts = append(texts, doubt)
		}
	}
	return texts
}

// missing says that a replacement matched nothing, and what came nearest.
func (r *replacing) missing(ctx context.Context, c *Call, files []string, i int, budget *int) string {
	rule, label := r.rules.List[i], r.labels[i]
	source := rule.Pattern.Source()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s matches nothing in %d files", label, quoted(source), len(files))
	if len(files) == 1 {
		b.Reset()
		fmt.Fprintf(&b, "%s %s matches nothing in %s", label, quoted(source), files[0])
	}
	left := nearestHints
	for _, file := range files[:min(len(files), nearestFiles)] {
		if info, err := c.FS.Stat(file); err == nil && info.Size() > int64(*budget) {
			*budget = -1 // not to be read for nothing
			break
		}
		data, err := c.readFile(file)
		if err != nil {
			continue // it was read a moment ago: the step's own error tells of this
		}
		if *budget -= len(data); *budget < 0 {
			break
		}
		if rule.Pattern.Mode() == match.Regex {
			// There is no such thing as nearly matching, but quoting the pattern is often what was meant.
			plain, err := match.Compile(source, match.Literal, match.Flags{})
			if err != nil {
				continue
			}
			if found, err := plain.Contains(ctx, data); found && err == nil {
				fmt.Fprintf(&b, "; it occurs as plain text in %s: write \\ before characters that are meant as themselves", file)
				break
			}
			continue
		}
		for _, h := range match.Nearest(data, source, left) {
			fmt.Fprintf(&b, "; nearest is %s:%d, which %s: %s", file, h.Line, h.Why, h.Text)
			left--
		}
		if left == 0 {
			break
		}
	}
	return b.String()
}

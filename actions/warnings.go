package actions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
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
	budget := nearestBytes
	texts := firstOf(missing, nearestTexts, func(i int) string { return r.missing(ctx, c, files, i, &budget) })
	texts = append(texts, firstOf(idle, nearestTexts, func(i int) string {
		return r.name(i) + " is found, but what replaces it is the same"
	})...)
	if i := slices.IndexFunc(r.rules.List, func(rule *replace.Rule) bool { return rule.Laps.Load() }); i >= 0 {
		texts = append(texts, "matches of "+r.name(i)+" overlap; they are counted from left to right, each from the end of the one before")
	}
	doubts := 0 // replacements in which something may have been meant otherwise
	for _, rule := range r.rules.List {
		if doubt := rule.Template.Doubt(); doubt != "" && doubts < nearestTexts {
			texts = append(texts, doubt)
			doubts++
		}
	}
	if len(texts) > 0 {
		c.Warnf("%s", strings.Join(texts, "; "))
	}
}

// name returns what messages call a rule.
func (r *replacing) name(i int) string {
	return r.labels[i] + " " + quoted(r.rules.List[i].Pattern.Source())
}

// missing says that a replacement matched nothing, and what came nearest.
func (r *replacing) missing(ctx context.Context, c *Call, files []string, i int, budget *int) string {
	where := files[0]
	if len(files) > 1 {
		where = fmt.Sprintf("%d files", len(files))
	}
	text := r.name(i) + " matches nothing in " + where
	pattern := r.rules.List[i].Pattern
	var plain *match.Pattern
	if pattern.Mode() == match.Regex {
		// There is no such thing as nearly matching, but quoting the pattern is often what was meant.
		var err error
		if plain, err = match.Compile(pattern.Source(), match.Literal, match.Flags{}); err != nil {
			return text
		}
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
		if plain != nil {
			if found, err := plain.Contains(ctx, data); found && err == nil {
				return text + "; it occurs as plain text in " + file + ": write \\ before characters that are meant as themselves"
			}
			continue
		}
		for _, h := range match.Nearest(data, pattern.Source(), left) {
			text += fmt.Sprintf("; nearest is %s:%d, which %s: %s", file, h.Line, h.Why, h.Text)
			left--
		}
		if left == 0 {
			break
		}
	}
	return text
}

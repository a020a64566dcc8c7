package actions

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/casing"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/replace"
)

// addTable adds one rule for many texts: the longest match at a place is replaced, and nothing is replaced twice.
func (r *replacing) addTable(c *Call, label string, edits []TextEdit, ignoreCase bool) error {
	key := func(text string) string {
		if ignoreCase {
			return strings.Map(leastCase, text)
		}
		return text
	}
	table := make(map[string][]byte, len(edits))
	texts := make([]string, 0, len(edits))
	for i, e := range edits {
		if e.OldText == "" {
			return fmt.Errorf("the text that edit %d replaces cannot be empty", i)
		}
		if becomes, twice := table[key(e.OldText)]; twice {
			if string(becomes) != e.NewText {
				return fmt.Errorf("there are two new texts for %q", fsutil.Visible(e.OldText))
			}
			continue
		}
		table[key(e.OldText)] = []byte(e.NewText)
		texts = append(texts, e.OldText)
	}
	p, err := c.compilePattern(label, alternatives(texts), "regex", match.Regex, match.Flags{IgnoreCase: ignoreCase})
	if err != nil {
		return err
	}
	if r.size += p.Size(); checkSizes(r.size) != nil {
		return withHint(checkSizes(r.size))
	}
	r.rules.List = append(r.rules.List, &replace.Rule{
		Pattern: p, By: []change.Origin{{Step: c.Step, Edit: len(r.labels)}},
		Table: func(match []byte) []byte { return table[key(string(match))] },
	})
	r.labels, r.fresh = append(r.labels, label), append(r.fresh, "")
	return nil
}

// leastCase returns one character for all that a pattern with ignored case treats as the same, such as σ, ς and Σ.
func leastCase(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// alternatives returns the regular expression for any of the texts, the longest first.
func alternatives(texts []string) string {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for i, text := range texts {
		texts[i] = regexp.QuoteMeta(text)
	}
	return strings.Join(texts, "|")
}

// CaseVariants returns the edits for all spellings of a name in programs: oldName, OldName, old_name, old-name,
// OLD_NAME, OLD-NAME, "old name", "Old name", "Old Name", oldname, OLDNAME. The words of both texts begin at capital
// letters and after characters that are neither letter nor digit. Each variant of oldText becomes the same variant of
// newText. A single word is several variants: it becomes newText if that has the same case. If oldText is none of the
// variants, it becomes newText too.
func CaseVariants(oldText, newText string) []TextEdit {
	from, to := casing.Words(oldText), casing.Words(newText)
	plain := TextEdit{OldText: oldText, NewText: newText}
	if len(from) == 0 || len(to) == 0 {
		return []TextEdit{plain}
	}
	var edits []TextEdit
	seen := make(map[string]bool)
	if len(from) == 1 && sameCase(oldText, newText) {
		edits, seen[oldText] = []TextEdit{plain}, true
	}
	for _, write := range []func([]string) string{
		casing.Joined("", casing.Lower, casing.Title), casing.Joined("", casing.Title, casing.Title),
		casing.Joined("_", casing.Lower, casing.Lower),
		casing.Joined("-", casing.Lower, casing.Lower), casing.Joined("_", casing.Upper, casing.Upper),
		casing.Joined("-", casing.Upper, casing.Upper), casing.Joined(" ", casing.Lower, casing.Lower),
		casing.Joined(" ", casing.Title, casing.Lower), casing.Joined(" ", casing.Title, casing.Title),
		casing.Joined("_", casing.Title, casing.Title), casing.Joined("-", casing.Title, casing.Title),
		casing.Joined("", casing.Lower, casing.Lower), casing.Joined("", casing.Upper, casing.Upper),
	} {
		if old := write(from); !seen[old] {
			seen[old] = true
			edits = append(edits, TextEdit{OldText: old, NewText: write(to)})
		}
	}
	if !seen[oldText] {
		edits = append(edits, plain)
	}
	return edits
}

// sameCase reports whether both texts are in small letters, or in capitals, or only begin with a capital.
func sameCase(a, b string) bool {
	kind := func(s string) int {
		first, _ := utf8.DecodeRuneInString(s)
		switch {
		case s == strings.ToLower(s):
			return 1
		case s == strings.ToUpper(s):
			return 2
		case unicode.IsUpper(first):
			return 3
		}
		return 4
	}
	return kind(a) == kind(b)
}

package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The headings of pages for decisions that were not made.
const (
	needsWord    = "This needs the word yes"
	nothingTaken = "Nothing was taken"
)

// isYes reports whether a field has the word yes.
func isYes(word string) bool { return strings.ToLower(strings.TrimSpace(word)) == "yes" }

// note records the choices of a form: which of the shown files and hunks are taken.
func (v *view) note(r *http.Request) error {
	if v.whole {
		return nil
	}
	taken := make(map[string]bool)
	for _, t := range r.PostForm["take"] {
		taken[t] = true
	}
	hunks := make(map[int][]int) // the hunks that are left out, by file with shown hunks
	for _, item := range r.PostForm["shown"] {
		name, hunk, isHunk := strings.Cut(item, ".")
		n, err := v.number(name)
		if err != nil {
			return err
		}
		c := v.left[n]
		if !isHunk {
			c.All = !taken[item]
			v.left[n] = c
			continue
		}
		h, err := strconv.Atoi(hunk)
		if err != nil || h < 0 {
			return fmt.Errorf("unknown hunk %q", hunk)
		}
		if hunks[n] == nil {
			hunks[n] = []int{}
		}
		if !taken[item] {
			hunks[n] = append(hunks[n], h)
		}
	}
	for n, list := range hunks {
		c := v.left[n]
		c.Hunks = list
		v.left[n] = c
	}
	return nil
}

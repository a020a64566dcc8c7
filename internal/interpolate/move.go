package interpolate

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/template"
)

// Move returns a text for the step of to that means the same as the given text in this step. References to steps get
// the ids from renamed. Literal text stays literal, perhaps with other backslashes. ok is false if that is impossible,
// because a reference would have another root there. The text must have no problems. Neither step may have been checked
// yet, or be used by another goroutine.
func (t *Texts) Move(text string, to *Texts, renamed func(step string) string) (moved string, ok bool) {
	if !strings.Contains(text, "{{") {
		return text, true
	}
	var b strings.Builder
	var roots []string
	steps := make(map[string]bool) // the roots that are steps
	done := 0
	for _, ref := range t.parse(text).text.Refs() {
		before := strings.TrimRight(text[done:ref.Offset], `\`)
		t.moveLiteral(&b, before, to)
		b.WriteString(text[done+len(before) : ref.Offset]) // an even number of backslashes, in both texts
		root, source := ref.Root, ref.Source
		if slices.Contains(t.ids, root) {
			root = renamed(root)
			steps[root] = true
			from, end := rootOf(source)
			source = source[:from] + root + source[end:]
		}
		b.WriteString(source)
		roots = append(roots, root)
		done = ref.Offset + len(ref.Source)
	}
	t.moveLiteral(&b, text[done:], to)
	moved = b.String()
	p := to.parse(moved)
	found := p.text.Refs()
	ok = len(p.problems) == 0 && slices.EqualFunc(roots, found, func(root string, ref template.Ref) bool {
		return root == ref.Root && slices.Contains(to.ids, root) == steps[root]
	})
	return moved, ok
}

// Escape returns the text in a form that has no references in this step.
func (t *Texts) Escape(text string) string { return template.Escape(text, t.knows) }

// moveLiteral writes a piece of text without references. It may contain text that looks like a reference.
func (t *Texts) moveLiteral(b *strings.Builder, piece string, to *Texts) {
	parsed, _ := template.Parse(piece, t.knows)
	literal, _ := parsed.ExpandString(nil) // no value is needed
	b.WriteString(template.Escape(literal, to.knows))
}

// rootOf returns the begin and end of the root of a reference: an id, or "steps[" number "]".
func rootOf(source string) (from, end int) {
	const opening = "{{"
	from = len(opening) + len(source[len(opening):]) - len(strings.TrimLeft(source[len(opening):], " \t"))
	end = from
	for end < len(source) && !strings.ContainsRune(".[ \t}", rune(source[end])) {
		end++
	}
	if source[from:end] == "steps" && source[end] == '[' {
		end += strings.IndexByte(source[end:], ']') + 1
	}
	return from, end
}

package web_test

import (
	"os"
	"testing"
)

// axeFile is the accessibility checker that npm installs.
const axeFile = "testdata/axe/node_modules/axe-core/axe.min.js"

// readAxe returns the script of the checker, or skips the test.
func readAxe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(axeFile)
	if os.IsNotExist(err) {
		t.Skip("axe-core is not installed: npm ci in testdata/axe (.ci/run screens)")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// axed checks that axe-core finds no violation in the page, and nothing that a person must check. The colours of texts
// with a single character, such as a line number, are exempt: lines 10 and up have the same colours. The check must
// pass at least ten rules, because an empty answer is not a success.
func (b *chromium) axed(script, page string) {
	b.t.Helper()
	eval[any](b, script+"\n;null")
	found := eval[struct {
		Passes     int
		Violations []struct{ ID, Help, Where, Why string }
	}](b, `axe.run(document, { resultTypes: ["violations"] }).then((r) => ({
		passes: r.passes.length,
		violations: r.violations.concat(r.incomplete).map((v) => ({
			id: v.id, help: v.help,
			nodes: v.nodes.filter((n) => !n.any.some((a) => /^(shortTextContent|nonBmp)$/.test(a.data?.messageKey))),
		})).filter((v) => v.nodes.length > 0).map((v) => ({
			id: v.id, help: v.help, why: v.nodes[0].failureSummary,
			where: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 300)).join("\n"),
		})),
	}))`)
	if found.Passes < 10 {
		b.t.Errorf("%s: axe-core passes only %d rules", page, found.Passes)
	}
	for _, v := range found.Violations {
		b.t.Errorf("%s: %s: %s\n%s\n%s", page, v.ID, v.Help, v.Why, v.Where)
	}
}

package millracetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// steady replaces the parts of a text for people that differ from run to run.
func steady(text string) string {
	text = regexp.MustCompile(`\b[0-9]{8}_[0-9]{6}_[0-9a-z]+\b`).ReplaceAllString(text, "BACKUP")
	return regexp.MustCompile(`(?m)(Duration: ).*$`).ReplaceAllString(text, "${1}0")
}

// steadyEvents does the same for events, and leaves out the kinds whose number varies.
func steadyEvents(t testing.TB, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("millracetest: %q: %v", line, err)
		}
		if kind := event["event"]; kind == "step_progress" || kind == "step_output" {
			continue
		}
		line, err := json.Marshal(steadyValue(event))
		if err != nil {
			t.Fatalf("millracetest: %v", err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// steadyValue replaces the parts of an event's value that differ from run to run.
func steadyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name == "time" || strings.Contains(name, "duration") || strings.HasSuffix(name, "_ms") {
				v[name] = 0
			} else {
				v[name] = steadyValue(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = steadyValue(v[i])
		}
	case string:
		return steady(v)
	}
	return v
}

// compare fails the test for each difference.
func (g *goldenTest) compare(t testing.TB) {
	t.Helper()
	for _, kind := range kinds() {
		want, there := g.archive.Get(kind)
		got := sectionText(g.sections[kind])
		if !there && (!always(kind) || got == "") {
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: the section %q differs (-want +got):\n%s", g.file, kind, diff)
		}
	}
	want := g.after
	if !g.wantsTree() {
		want = g.before
	}
	if diff := diffEntries(want, prune(slices.Clone(g.got), want)); diff != "" {
		t.Errorf("%s: the tree differs (-want +got):\n%s", g.file, diff)
	}
	if t.Failed() {
		t.Logf("%s: if this is the wanted behavior, run the test with -update", g.file)
	}
}

// wantsTree reports whether the archive has a tree after the run.
func (g *goldenTest) wantsTree() bool {
	_, empty := g.archive.Get("want/")
	return empty || len(g.after) > 0
}

// sectionText returns a text as a section of an archive: lines that could start a section get a space in front.
func sectionText(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return regexp.MustCompile(`(?m)^(-- .* --)$`).ReplaceAllString(text, " $1")
}

// update writes the archive with the results in place of the wanted results.
func (g *goldenTest) update(t testing.TB, old []byte) {
	t.Helper()
	// The sections before the wanted results stay byte for byte.
	var b strings.Builder
	name, wanted, first := "", make(map[string]bool), true
	for line := range strings.Lines(string(old)) {
		if text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "-- "); ok && strings.HasSuffix(text, " --") {
			name = strings.TrimSpace(strings.TrimSuffix(text, "--"))
			wanted[name] = true
			first = false
		}
		if first || !g.isWanted(name) {
			b.WriteString(line)
		}
	}
	if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	fresh := !slices.ContainsFunc(kinds(), func(kind string) bool { return wanted[kind] }) && !g.wantsTree()
	for _, kind := range kinds() {
		text := sectionText(g.sections[kind])
		writes := wanted[kind] || fresh && text != "" && (kind == "result" || kind == "diff")
		if always(kind) {
			writes = text != ""
		}
		if writes {
			b.WriteString("-- " + kind + " --\n" + text)
		}
	}
	said := make(map[string]bool) // the modes that the archive names stay in it
	for _, e := range slices.Concat(g.before, g.after) {
		said[e.name] = said[e.name] || e.said
	}
	before := slices.Clone(g.before)
	for i, e := range before {
		before[i].said = said[e.name]
	}
	if diffEntries(before, prune(slices.Clone(g.got), before)) != "" {
		tree, err := formatTree(prune(g.got, before), "want", func(name string) bool { return said[name] })
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		if tree == "" {
			tree = "-- want/ --\n"
		}
		b.WriteString(tree)
	}
	if b.String() == string(old) {
		return
	}
	if err := os.WriteFile(filepath.Clean(g.file), []byte(b.String()), 0o644); err != nil {
		t.Fatalf("%s: %v", g.file, err)
	}
	t.Logf("%s: updated", g.file)
}

// isWanted reports whether an update writes a section.
func (g *goldenTest) isWanted(name string) bool {
	return slices.Contains(kinds(), name) || name == "want/" || strings.HasPrefix(name, "want/")
}

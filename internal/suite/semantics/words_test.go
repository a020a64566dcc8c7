package semantics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The words that many rows share.
const (
	kept      = "kept"
	asSource  = "as the source"
	asBefore  = "as before"
	gone      = "gone"
	copyGone  = "copy gone"
	newInode  = "new inode"
	untouched = "untouched"
	notFor    = "n/a"
)

// keptByAll are the promises of most rows.
var keptByAll = saveWords{
	edit: kept, rename: kept, copy: asSource, del: gone, editBack: asBefore, renameBack: asBefore, copyBack: copyGone, delBack: asBefore,
}

// wordFor returns the word for what happened to the property of the row.
func (row saveRow) wordFor(m measurement) string {
	if row.word != nil {
		return row.word(m)
	}
	is, ok := m.after[m.place()]
	switch {
	case !ok && m.action == "copy" && m.restored:
		return copyGone
	case !ok:
		return gone
	case !row.same(m.before[subject], is) && row.changed == nil:
		return "lost"
	case !row.same(m.before[subject], is):
		return row.changed(m.before[subject], is)
	case m.restored:
		return asBefore
	case m.action == "copy":
		return asSource
	}
	return kept
}

// place returns the path of the file that the words describe. For a copy it is the new file, even if it should be gone.
func (m measurement) place() string {
	if m.action == "copy" || m.action == "rename" && !m.restored {
		return result
	}
	return subject
}

// replaces reports whether the action replaces text.
func (m measurement) replaces() bool {
	return m.action == "edit" || m.action == "multi_edit" || m.action == "regex_transform"
}

// checkAll checks the promises that hold for all files.
func (row saveRow) checkAll(t *testing.T, m measurement) {
	t.Helper()
	wantText := m.before[subject].data
	if m.replaces() && !m.restored {
		wantText = strings.ReplaceAll(wantText, "old", "newer")
	}
	followed := row.names == "" || m.replaces() || m.action == "copy" // rename and delete move the link itself
	if is, ok := m.after[m.place()]; ok && followed && is.data != wantText {
		t.Errorf("%s (restored: %t): the bytes are %.60q, want %.60q", m.action, m.restored, is.data, wantText)
	}
	wantPaths := make(map[string]bool)
	for name := range m.before {
		wantPaths[name] = true
	}
	from := row.names
	if from == "" {
		from = subject
	}
	if !m.restored {
		wantPaths[from] = m.action != "delete" && m.action != "rename"
		wantPaths[result] = m.action == "copy" || m.action == "rename"
	}
	gotPaths := make(map[string]bool)
	for name, want := range wantPaths {
		if _, ok := m.after[name]; ok || !want {
			gotPaths[name] = ok
		}
	}
	for name := range m.after {
		gotPaths[name] = true
	}
	if diff := cmp.Diff(wantPaths, gotPaths); diff != "" {
		t.Errorf("%s (restored: %t): paths (-want +got):\n%s", m.action, m.restored, diff)
	}
	alone := []string{"d/beside.txt", "e", "e/else.txt"}
	if m.action == "copy" {
		alone = append(alone, subject)
	}
	for _, name := range alone {
		if m.before[name] != m.after[name] {
			t.Errorf("%s (restored: %t): %s was touched:\n%+v\n%+v", m.action, m.restored, name, m.before[name], m.after[name])
		}
	}
}

//go:build linux

package stage_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/splice"
)

// compareSince checks ChangedSince against the trees at the savepoints.
func (m *model) compareSince() {
	now := treeOf(m.T, m.stage)
	for _, save := range m.saves {
		listed := m.stage.ChangedSince(save.point)
		if !slices.IsSorted(listed) || len(slices.Compact(slices.Clone(listed))) != len(listed) {
			m.Fatalf("not sorted or not unique: %q", listed)
		}
		for name := range maps.Keys(now) {
			if isDirLine(now[name]) {
				continue
			}
			if want := now[name] != save.tree[name]; want != slices.Contains(listed, name) {
				m.Fatalf("%s listed: %v, want %v; then %q, now %q; listed %q", name, !want, want, save.tree[name], now[name], listed)
			}
		}
		gone := 0
		for name, line := range save.tree {
			if _, there := now[name]; !there && !isDirLine(line) {
				gone++
			}
		}
		shown := 0
		for _, name := range listed {
			if _, there := now[name]; there {
				shown++
			} else if line, was := save.tree[name]; !was || isDirLine(line) {
				m.Fatalf("%s listed, but it was not a file and is none", name)
			}
		}
		if len(listed)-shown > gone || gone > 0 && len(listed) == 0 {
			m.Fatalf("%d files gone, %d listed, of which %d are there", gone, len(listed), shown)
		}
	}
}

// compareChanges applies the changes to the tree of the base. The result must be the tree of the stage.
func (m *model) compareChanges() {
	changes, err := m.stage.Changes()
	m.check(err)
	if !slices.IsSortedFunc(changes, func(a, b change.Change) int { return strings.Compare(a.Path, b.Path) }) {
		m.Fatalf("changes are not in order: %v", changes)
	}
	got := maps.Clone(m.first)
	for _, c := range changes {
		at := c.Path
		if c.From != "" {
			at = c.From
			m.isOld(c.Path, c.Replaced)
		}
		m.isOld(at, c.Old)
		delete(got, at)
		delete(got, c.Path)
	}
	for _, c := range changes {
		if _, twice := got[c.Path]; twice {
			m.Fatalf("%s is changed twice", c.Path)
		}
		if c.Kind != change.Deleted {
			got[c.Path] = m.newLine(c)
		}
		if c.Kind == change.Modified && c.Old.SameContent(c.New) {
			m.Fatalf("no change: %+v", c)
		}
		if (c.Kind == change.Created) != (c.Old.Kind == change.Absent) ||
			(c.Kind == change.Deleted) != (c.New.Kind == change.Absent) {
			m.Fatalf("kind does not fit: %+v", c)
		}
	}
	if diff := cmp.Diff(treeOf(m.T, m.stage), got); diff != "" {
		m.Fatalf("base and changes (-stage +applied):\n%s\n%s", diff, brief(changes))
	}
}

func brief(changes []change.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s from %q: %v to %v over %v\n", c.Kind, c.Path, c.From, c.Old.Kind, c.New.Kind, c.Replaced.Kind)
	}
	return b.String()
}

// isOld checks the old state in a change against the base.
func (m *model) isOld(name string, s change.State) {
	line := m.first[name]
	want := ""
	switch s.Kind {
	case change.File:
		data := line[strings.LastIndexByte(line, ' ')+1:]
		want = fmt.Sprintf("file %v %q", s.Mode, unquote(m.T, data))
		if change.HashOf([]byte(unquote(m.T, data))) != s.Hash || s.Size != int64(len(unquote(m.T, data))) {
			m.Fatalf("%s: old hash or size is wrong", name)
		}
	case change.Dir:
		want = fmt.Sprintf("dir %v", s.Mode)
	case change.Symlink:
		want = fmt.Sprintf("link %s", s.Target)
	}
	if want != line {
		m.Fatalf("%s: the base has %q, the change has %q", name, line, want)
	}
}

func (m *model) newLine(c change.Change) string {
	switch c.New.Kind {
	case change.File:
		r, err := c.OpenNew()
		m.check(err)
		defer r.Close()
		data, err := io.ReadAll(r)
		m.check(err)
		if change.HashOf(data) != c.New.Hash || c.New.Size != int64(len(data)) {
			m.Fatalf("%s: new hash or size is wrong", c.Path)
		}
		if c.Splices != nil {
			r, err := c.OpenOld()
			m.check(err)
			defer r.Close()
			old, err := io.ReadAll(r)
			m.check(err)
			if out, err := splice.Apply(old, c.Splices); err != nil || !bytes.Equal(out, data) {
				m.Fatalf("%s: splices give %q, %v, want %q", c.Path, out, err, data)
			}
		}
		return fmt.Sprintf("file %v %q", c.New.Mode, data)
	case change.Dir:
		return fmt.Sprintf("dir %v", c.New.Mode)
	default:
		return fmt.Sprintf("link %s", c.New.Target)
	}
}

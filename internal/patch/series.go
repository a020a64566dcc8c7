package patch

import (
	"path"
	"slices"
	"strings"
	"time"
)

// separator is the kind of line between the commits of a series.
type separator uint8

const (
	noSeparator separator = iota
	mailSeparator
	logSeparator
)

// separates returns how a line begins a commit: as a mail of git format-patch or of a mailbox, or as in git log.
func separates(line string) separator {
	if rest, ok := strings.CutPrefix(line, "From "); ok {
		who, stamp, _ := strings.Cut(trimEnd(rest), " ")
		if _, err := time.Parse("Mon Jan _2 15:04:05 2006", stamp); err == nil && who != "" {
			return mailSeparator
		}
	}
	if rest, ok := strings.CutPrefix(line, "commit "); ok {
		id, _, _ := strings.Cut(trimEnd(rest), " ") // names of branches may come next
		if len(id) >= minID && isHex(id) {
			return logSeparator
		}
	}
	return noSeparator
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// series is the state of a parser for the commits of a text.
type series struct {
	commit int         // number of the present commit, from 1; 0 before the first
	mails  bool        // at least one commit is a mail
	dates  []time.Time // the dates of commits, in the order of the text
}

// note reads a line between two sections.
func (s *series) note(line string) {
	switch separates(line) {
	case mailSeparator:
		s.commit, s.mails = s.commit+1, true
	case logSeparator:
		s.commit++
	default:
		rest, ok := strings.CutPrefix(line, "Date:")
		if !ok {
			rest, ok = strings.CutPrefix(line, "CommitDate:")
		}
		if t, err := time.Parse("Mon Jan _2 15:04:05 2006 -0700", strings.TrimSpace(rest)); ok && err == nil {
			s.dates = append(s.dates, t)
		}
	}
}

// inOrder sorts the commits of a log into the order in which they were made: git log begins with the newest commit.
func (p *parser) inOrder() {
	files := p.patch.Files
	if len(files) == 0 || files[0].Commit == files[len(files)-1].Commit {
		return
	}
	forward, backward, shared := links(files)
	if p.series.mails { // mails are in the order of the text, unless the contents prove the reverse twice
		forward++
	} else if forward == backward {
		for i := range max(len(p.series.dates)-1, 0) {
			switch c := p.series.dates[i].Compare(p.series.dates[i+1]); {
			case c < 0:
				forward++
			case c > 0:
				backward++
			}
		}
	}
	switch {
	case backward > forward:
		// Sections of a commit keep their order.
		slices.SortStableFunc(files, func(a, b File) int { return b.Commit - a.Commit })
		p.warn(0, "the newest commit stands first; the commits were applied from the oldest one on")
	case backward == forward && shared && !p.series.mails:
		p.problem(0, "make it with git format-patch --stdout, or with git log --reverse",
			"nothing tells in which order the commits of the patch were made")
	}
}

// touch is the content that a commit finds at a name, and the content that it leaves there: the name of the content,
// absent or present, "" if the patch does not show it.
type touch struct {
	commit    int
	old, left string
}

// Contents without a name.
const (
	absent  = "absent"  // no file
	present = "present" // a file with any content
)

// rank returns how much is known of a content.
func rank(content string) int {
	switch content {
	case "":
		return 0
	case absent:
		return 1 // only for a part of the commit: another part may find or put a file there
	case present:
		return 2
	}
	return 3
}

// finds records a content that a section finds. The first of two names counts.
func (t *touch) finds(content string) {
	if rank(content) > rank(t.old) {
		t.old = content
	}
}

// leaves records a content that a section leaves. The last of two names counts.
func (t *touch) leaves(content string) {
	if rank(content) >= rank(t.left) {
		t.left = content
	}
}

// of returns the content with a name. The name may be too short to prove anything.
func of(id string) string {
	if len(id) < minID || strings.Trim(id, "0") == "" {
		return present
	}
	return id
}

// differ reports whether two contents are certainly different.
func differ(a, b string) bool {
	switch {
	case a == "" || b == "":
		return false
	case a == absent || b == absent:
		return a != b
	}
	return a != present && b != present && !sameID(a, b)
}

// links counts the proofs of both orders of two neighbouring commits. A proof is a file whose content after one commit
// differs from its content before the other commit. shared is set if two commits touch the same file.
func links(files []File) (forward, backward int, shared bool) {
	names := make(map[string]*[2]touch) // the last two commits of each name
	settle := func(t *[2]touch) {
		if t[0].commit == t[1].commit {
			return
		}
		shared = true
		for i := range t {
			if t[i].left == "" {
				t[i].left = t[i].old // the source of a copy
			}
		}
		follows, precedes := !differ(t[0].left, t[1].old), !differ(t[1].left, t[0].old)
		if follows && !precedes {
			forward++
		}
		if precedes && !follows {
			backward++
		}
	}
	at := func(name string, commit int) *touch {
		name = path.Clean(name)
		t := names[name]
		switch {
		case t == nil:
			t = &[2]touch{{commit: commit}, {commit: commit}}
			names[name] = t
		case t[1].commit != commit:
			settle(t)
			t[0], t[1] = t[1], touch{commit: commit}
		}
		return &t[1]
	}
	for i := range files {
		f := &files[i]
		if f.Op != Create {
			at(f.Old, f.Commit).finds(of(f.OldID))
		}
		if f.Op == Delete || f.Op == Rename {
			at(f.Old, f.Commit).leaves(absent)
		}
		if f.Op == Delete {
			continue
		}
		if f.Op != Modify {
			at(f.New, f.Commit).finds(absent)
		}
		at(f.New, f.Commit).leaves(of(f.NewID))
	}
	for _, t := range names {
		settle(t)
	}
	return forward, backward, shared
}

// minID is the smallest number of digits of the name of a content that proves anything.
const minID = 7

// sameID reports whether two names, which may be shortened, name the same content.
func sameID(a, b string) bool {
	n := min(len(a), len(b))
	return n >= minID && a[:n] == b[:n] && strings.Trim(a[:n], "0") != ""
}

// joined merges sections that refer to the same text of a file into the first of them: the blocks of a file, and
// sections of a diff with the same old content. Any other section refers to the result of the sections before it.
func joined(format Format, files []File) []File {
	first := make(map[string]int, len(files))
	out := make([]File, 0, len(files))
	own := make(map[int]bool) // sections whose hunks are a list of their own, to which more can be appended without a copy
	for _, f := range files {
		old, now := path.Clean(f.Old), path.Clean(f.New) // "./f" is "f"
		i, ok := first[old]
		if ok && f.Op == Modify && f.Binary == nil && out[i].Binary == nil && out[i].Commit == f.Commit &&
			(format == SearchReplace || format == Unified && sameID(f.OldID, out[i].OldID)) {
			into := &out[i]
			if !own[i] {
				into.Hunks, own[i] = slices.Clone(into.Hunks), true
			}
			into.Hunks = append(into.Hunks, f.Hunks...)
			into.Mixed, into.CRLF, into.MayBeNew = into.Mixed || f.Mixed, into.CRLF || f.CRLF, false
			if f.NewMode != 0 {
				into.NewMode = f.NewMode
			}
			continue
		}
		delete(first, now)
		if delete(first, old); f.Op == Modify {
			first[old] = len(out)
		}
		out = append(out, f)
	}
	return out
}

package cli

import (
	"path"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// tellEmptied names the directories that a change has left empty. They stay: a change of files only removes directories
// that were given to it.
func (s *session) tellEmptied(r *millrace.Result) {
	if r.Commit.State != millrace.CommitApplied || r.Restores != "" {
		return
	}
	left := slices.Clone(r.FilesChanged.Deleted)
	for _, renamed := range r.FilesChanged.Renamed {
		left = append(left, renamed.From)
	}
	var empty []string
	seen := make(map[string]bool)
	for _, name := range left {
		dir := path.Dir(name)
		if dir == "." || seen[dir] {
			continue
		}
		seen[dir] = true
		if entries, err := afero.ReadDir(s.fs, dir); err == nil && len(entries) == 0 {
			empty = append(empty, dir)
		}
	}
	if len(empty) == 0 {
		return
	}
	slices.Sort(empty)
	s.talk("left empty: %s; millrace rm -r removes a directory", actions.Few(empty, ", "))
}

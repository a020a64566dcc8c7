package preview

import (
	"github.com/millrace-go/millrace/change"
)

// FileChange is what a change does to the file or symbolic link at its path. Directories are nothing here: a file in
// whose place a directory is put is deleted.
type FileChange struct {
	Kind           change.ChangeKind
	*change.Change // as it is in the list, for a list may be long
}

// FileChanges lists what changes do to files and symbolic links, in their order: what a diff, a report, the counts and the
// risk all go by. Of a file that is renamed, it lists the new name; nothing is listed at the old one unless another
// file stands there now. some are those to be listed of all changes of a plan.
func FileChanges(some, all []change.Change) []FileChange {
	moved := make(map[string]bool)
	for i := range all {
		if c := &all[i]; c.Kind == change.Renamed {
			moved[c.From] = true
		}
	}
	files := make([]FileChange, 0, len(some))
	for i := range some {
		c := &some[i]
		f := FileChange{Change: c}
		switch was, is := hasText(c.Old), hasText(c.New); {
		case !was && !is, !is && moved[c.Path]:
			continue
		case c.Kind == change.Renamed:
			f.Kind = change.Renamed
		case was && is:
			f.Kind = change.Modified
		case was:
			f.Kind = change.Deleted
		default:
			f.Kind = change.Created
		}
		files = append(files, f)
	}
	return files
}

func hasText(s change.State) bool { return s.Kind == change.File || s.Kind == change.Symlink }

package preview

import (
	"github.com/millrace-go/millrace/change"
)

// FileChange is the effect of a change on the file or symbolic link at its path. Directories do not count: if a
// directory replaces a file, the file is deleted.
type FileChange struct {
	Kind           change.ChangeKind
	*change.Change // a pointer into the list, because a list can be long
}

// FileChanges lists the changes of files and symbolic links, in their order. The diff, the report, the counts and the
// risk are all based on it. A renamed file is listed at its new name; its old name is listed only if another file is
// there now. some are the changes to list, all are the changes of the plan.
func FileChanges(some, all []change.Change) []FileChange {
	moved := movedFrom(all)
	files := make([]FileChange, 0, len(some))
	for i := range some {
		if kind := kindOf(some[i], moved); kind != "" {
			files = append(files, FileChange{kind, &some[i]})
		}
	}
	return files
}

// Kinds returns the kind under which each of some changes is shown: the kind of [FileChanges], or for a directory the
// kind of the change.
func Kinds(some, all []change.Change) []change.ChangeKind {
	moved := movedFrom(all)
	kinds := make([]change.ChangeKind, len(some))
	for i, c := range some {
		switch kinds[i] = kindOf(c, moved); {
		case kinds[i] != "":
		case hasText(c.Old) && c.New.Kind != change.Absent:
			kinds[i] = change.Created // the file has moved, and a directory is created at its old name
		default:
			kinds[i] = c.Kind
		}
	}
	return kinds
}

func movedFrom(all []change.Change) map[string]bool {
	moved := make(map[string]bool)
	for i := range all {
		if c := &all[i]; c.Kind == change.Renamed {
			moved[c.From] = true
		}
	}
	return moved
}

// kindOf returns the effect of a change on the file or link at its path, "" if it has none.
func kindOf(c change.Change, moved map[string]bool) change.ChangeKind {
	switch was, is := hasText(c.Old), hasText(c.New); {
	case !was && !is, !is && moved[c.Path]:
		return ""
	case c.Kind == change.Renamed:
		return change.Renamed
	case was && is:
		return change.Modified
	case was:
		return change.Deleted
	default:
		return change.Created
	}
}

func hasText(s change.State) bool { return s.Kind == change.File || s.Kind == change.Symlink }

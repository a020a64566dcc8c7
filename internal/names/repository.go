package names

import "io/fs"

// Marks is a set of names by which git recognizes a repository.
type Marks uint8

const (
	markHead Marks = 1 << iota
	markObjects
	markRefs
	markCommon // of a worktree, whose objects and refs are elsewhere
)

// RepositoryNames are the names by which git recognizes a repository. Without the first name a directory is not a
// repository.
func RepositoryNames() []string { return []string{"HEAD", "objects", "refs", "commondir"} }

// IsRepository reports whether git regards a directory with these names as a repository, or as the git directory of a
// worktree.
func (m Marks) IsRepository() bool {
	return m&markHead != 0 && (m&markCommon != 0 || m&markObjects != 0 && m&markRefs != 0)
}

// MarkOf returns the mark for an entry of this name and type, 0 for other entries. A link can lead to either type.
func MarkOf(name string, typ fs.FileMode) Marks {
	if len(name) < len("HEAD") {
		return 0
	}
	switch c := name[0]; { // most names end here
	case c >= 0x80:
	case c|0x20 != 'h' && c|0x20 != 'o' && c|0x20 != 'r' && c|0x20 != 'c':
		return 0
	}
	var mark Marks
	isDir := false
	switch FoldName(name) {
	case "head":
		mark = markHead
	case "objects":
		mark, isDir = markObjects, true
	case "refs":
		mark, isDir = markRefs, true
	case "commondir":
		mark = markCommon
	default:
		return 0
	}
	if typ&fs.ModeSymlink == 0 && typ.IsDir() != isDir {
		return 0
	}
	return mark
}

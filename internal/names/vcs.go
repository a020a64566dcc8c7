package names

import "strings"

// isVCSName reports whether a folded name is that of the directory of a version control system, or the short name that
// FAT and NTFS make of it.
func isVCSName(folded string) bool {
	switch folded {
	case ".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs",
		"git~1", "hg~1", "svn~1", "jj~1", "bzr~1", "sl~1", "pijul~1":
		return true
	}
	return false
}

// CvsName is the name of the directories of CVS, which is also that of directories about CVS, or of somebody's papers.
const CvsName = "CVS"

// isCVSFile reports whether a folded name is one that CVS has in its directories.
func isCVSFile(folded string) bool {
	switch folded {
	case "entries", "repository", "root", "tag", "baserev", "notify", "checkin.prog", "update.prog":
		return true
	}
	return strings.HasPrefix(folded, "entries.")
}

// IsProtected reports whether the path is, or lies in, a version control directory.
func IsProtected(name string) bool {
	above := ""
	for part := range strings.SplitSeq(name, "/") {
		part = FoldName(part)
		if isVCSName(part) || above == "cvs" && isCVSFile(part) {
			return true
		}
		above = part
	}
	return false
}

// IsVCS reports whether a walk is to leave out an entry because it belongs to a version control system. In a worktree
// and in a submodule .git is a file. The directories of CVS are told by what is in them, see isCVS.
func IsVCS(name string, isDir bool) bool {
	if len(name) < 3 || !isDir && len(name) < len(".git") {
		return false
	}
	if c := name[0]; c < 0x80 && c != '.' && c != '_' && !strings.Contains(name, "~") {
		return false
	}
	folded := FoldName(name)
	return folded == ".git" || isDir && isVCSName(folded)
}

package names

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNotPortable: a path has a part that cannot be a file name on Windows, or would mean another name there.
var ErrNotPortable = errors.New("name cannot exist on Windows")

// CheckPortable returns an error that matches [ErrNotPortable] and names the part of the canonical path that causes it.
func CheckPortable(name string) error {
	if name == "." {
		return nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if why := notPortable(part); why != "" {
			return fmt.Errorf("%w: %q %s", ErrNotPortable, part, why)
		}
	}
	return nil
}

// notPortable returns the reason why one part of a path cannot exist on Windows, "" if it can.
func notPortable(part string) string {
	if !utf8.ValidString(part) {
		return "is no UTF-8"
	}
	for _, r := range part {
		switch {
		case r < ' ':
			return "has a control character"
		case strings.ContainsRune(`<>:"|?*\`, r):
			return fmt.Sprintf("has the character %q", r)
		}
	}
	if last := part[len(part)-1]; last == '.' || last == ' ' {
		return "ends in a dot or a space"
	}
	// A device name stays one with any extension, and with spaces before the extension.
	base, _, _ := strings.Cut(part, ".")
	if isDevice(strings.ToLower(strings.TrimRight(base, " "))) {
		return "is the name of a device"
	}
	return ""
}

// isDevice reports whether Windows reserves the name, in lower case and without extension, for devices.
func isDevice(name string) bool {
	for _, port := range [...]string{"com", "lpt"} {
		if digit, ok := strings.CutPrefix(name, port); ok {
			return len([]rune(digit)) == 1 && strings.Contains("0123456789\u00b9\u00b2\u00b3", digit)
		}
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$"}, name)
}

// isVCSName reports whether a folded name is the directory of a version control system, or its short name on FAT and
// NTFS.
func isVCSName(folded string) bool {
	switch folded {
	case ".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", ".repo", "_darcs",
		"git~1", "hg~1", "svn~1", "jj~1", "bzr~1", "sl~1", "pijul~1", "repo~1":
		return true
	}
	return false
}

// CvsName is the name of the directories of CVS. Directories about CVS may have it too.
const CvsName = "CVS"

// isCVSFile reports whether a folded name is a file of CVS in its directories.
func isCVSFile(folded string) bool {
	switch folded {
	case "entries", "repository", "root", "tag", "baserev", "notify", "checkin.prog", "update.prog":
		return true
	}
	return strings.HasPrefix(folded, "entries.")
}

// IsProtected reports whether the path is a version control directory or is inside one.
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

// IsVCS reports whether a walk must leave out an entry because it belongs to a version control system. In a worktree
// and in a submodule .git is a file. A directory of CVS is recognized by its content, see isCVS in package walk.
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

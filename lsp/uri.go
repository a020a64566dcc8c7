package lsp

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
)

// base is a directory as the beginning of URIs, with a slash at the end.
type base string

// baseOf accepts an absolute directory of any system: "/home/ann", `C:\src`, "C:/src", `\\server\share\src`.
func baseOf(root string) (base, error) {
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	b := ""
	switch dir := strings.ReplaceAll(root, `\`, "/"); {
	case strings.HasPrefix(root, "/") && !strings.HasPrefix(root, "//"):
		b = "file://" + escaped(strings.TrimRight(root, "/"))
	case len(dir) > 2 && isLetter(dir[0]) && dir[1] == ':' && dir[2] == '/':
		b = "file:///" + dir[:2] + escaped(strings.TrimRight(dir[2:], "/"))
	case strings.HasPrefix(dir, "//") && len(strings.Trim(dir, "/")) > 0 && dir[2] != '/':
		b = "file:" + escaped(strings.TrimRight(dir, "/"))
	default:
		return "", fmt.Errorf("the root has to be an absolute directory, got %q", fsutil.Visible(root))
	}
	return base(b + "/"), nil
}

// uri returns the URI of a path of the tree.
func (b base) uri(path string) string { return string(b) + escaped(path) }

// escaped escapes all characters except slashes and those that never need it, so that any two readers of URIs agree.
func escaped(path string) string {
	const digits = "0123456789ABCDEF"
	var s strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/-._~", c) >= 0:
			s.WriteByte(c)
		default:
			s.WriteByte('%')
			s.WriteByte(digits[c>>4])
			s.WriteByte(digits[c&15])
		}
	}
	return s.String()
}

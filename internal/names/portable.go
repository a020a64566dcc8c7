package names

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotPortable says that a path has a part that cannot be the name of a file on Windows, or would be another one
// there.
var ErrNotPortable = errors.New("name cannot exist on Windows")

// CheckPortable returns an error that matches [ErrNotPortable] and says which part of the canonical path is why.
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

// notPortable says what speaks against one part of a path, "" if nothing does.
func notPortable(part string) string {
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
	// A device is one with any extension, and with spaces before it.
	base, _, _ := strings.Cut(part, ".")
	if isDevice(strings.ToLower(strings.TrimRight(base, " "))) {
		return "is the name of a device"
	}
	return ""
}

// isDevice reports whether the name, in lower case and without extension, is one that Windows keeps for devices.
func isDevice(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	digit, ok := strings.CutPrefix(name, "com")
	if !ok {
		digit, ok = strings.CutPrefix(name, "lpt")
	}
	switch digit {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u00b9", "\u00b2", "\u00b3":
		return ok
	}
	return false
}

package yamlform

import (
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/actions"
)

// place is the position of a value in the YAML text, with its children. The tree of places is kept during the decoding
// of the JSON, because it needs a third of the memory of the parser's tree.
type place struct {
	line, column         int32
	nameLine, nameColumn int32
	name                 string // of a member of a mapping
	object               bool
	kids                 []place
}

// locator finds places by JSON pointers. It is not safe for concurrent use.
type locator struct {
	top     *place
	members map[*place]map[string]*place // of the mappings that were searched
}

// locate returns the line and the column of the value at a JSON pointer, or of its name. If the text does not have it,
// it returns the place of the last value on the way.
func (l *locator) locate(pointer string, name bool) (line, column int) {
	at := l.top
	for rest := pointer; rest != ""; {
		token, after, more := strings.Cut(rest[1:], "/")
		rest = ""
		if more {
			rest = "/" + after
		}
		next := l.step(at, token)
		if next == nil {
			return int(at.line), int(at.column)
		}
		at = next
	}
	if name && at.nameLine > 0 {
		return int(at.nameLine), int(at.nameColumn)
	}
	return int(at.line), int(at.column)
}

func (l *locator) step(at *place, token string) *place {
	if !at.object {
		if i, err := strconv.Atoi(token); err == nil && 0 <= i && i < len(at.kids) {
			return &at.kids[i]
		}
		return nil
	}
	members := l.members[at]
	if members == nil {
		members = make(map[string]*place, len(at.kids))
		for i := range at.kids {
			members[actions.PointerToken(at.kids[i].name)] = &at.kids[i]
		}
		l.members[at] = members
	}
	return members[token]
}

package actions

import (
	"bytes"
	"strconv"
	"strings"
)

// locating builds the data that [Search] returns for the matches of one file, which it receives in order.
type locating struct {
	s    *searching
	name string
	list []any
	err  error
	line int // the line of at, from 1
	from int // the start of that line
	at   int
}

// add adds a match, or returns false if the match does not fit into the limit.
func (p *locating) add(data []byte, loc []int) bool {
	const perMatch = 64 * 9 // as the executor counts values
	line, column := p.place(data, loc[0])
	end := *p
	endLine, endColumn := end.place(data, loc[1])
	holes, size := map[string]any{}, perMatch+loc[1]-loc[0]+len(p.name)
	for i, name := range p.s.pattern.Groups() {
		if i == 0 || 2*i+1 >= len(loc) || loc[2*i] < 0 {
			continue
		}
		if name == "" {
			name = strconv.Itoa(i)
		}
		holes[name] = string(data[loc[2*i]:loc[2*i+1]])
		size += 64 + len(name) + loc[2*i+1] - loc[2*i]
	}
	if p.err = p.s.room.take(size); p.err != nil {
		return false
	}
	p.list = append(p.list, map[string]any{
		"file": p.name, "line": line, "column": column, "end_line": endLine, "end_column": endColumn,
		"text": strings.ToValidUTF8(string(data[loc[0]:loc[1]]), "\uFFFD"), "holes": holes,
	})
	return true
}

// place returns the line and the column of an offset, in bytes from 1.
func (p *locating) place(data []byte, offset int) (line, column int) {
	passed := data[p.at:max(p.at, offset)]
	p.line += bytes.Count(passed, []byte{'\n'})
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		p.from = p.at + i + 1
	}
	p.at = max(p.at, offset)
	return p.line, offset - p.from + 1
}

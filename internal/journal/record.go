package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// A plan has a line for each of thousands of paths, so the lines are written and read by hand: objects in JSON with
// their members in this order, those left out that have the zero value, and no space between. Nothing else is read.

func appendRecord(b []byte, r *Record) []byte {
	b = appendString(append(b, `{"path":`...), r.Path)
	b = appendOptional(b, `,"from":`, r.From)
	b = appendState(append(b, `,"old":`...), &r.Old)
	b = appendState(append(b, `,"new":`...), &r.New)
	b = strconv.AppendInt(append(b, `,"slot":`...), int64(r.Slot), 10)
	b = appendOptional(b, `,"image":`, string(r.Image))
	for _, f := range [...]struct {
		name string
		set  bool
	}{{"moved", r.Moved}, {"attr", r.Attr}, {"trash", r.Trash}, {"permanent", r.Permanent}} {
		if f.set {
			b = append(append(append(b, `,"`...), f.name...), `":true`...)
		}
	}
	b = appendOptional(b, `,"far_dir":`, r.FarDir)
	return append(b, '}')
}

func appendState(b []byte, s *change.State) []byte {
	b = append(append(append(b, `{"kind":"`...), s.Kind.String()...), '"')
	b = appendUint(b, `,"mode":`, uint64(s.Mode))
	b = appendInt(b, `,"size":`, s.Size)
	if s.Hash != (change.Hash{}) {
		b = append(hex.AppendEncode(append(b, `,"sha256":"`...), s.Hash[:]), '"')
	}
	b = appendOptional(b, `,"target":`, s.Target)
	if !s.ModTime.IsZero() {
		b = strconv.AppendInt(append(b, `,"mtime":[`...), s.ModTime.Unix(), 10)
		b = strconv.AppendInt(append(b, ','), int64(s.ModTime.Nanosecond()), 10)
		b = append(b, ']')
	}
	if id := s.ID; id != (capability.Identity{}) {
		b = append(b, `,"id":{`...)
		start := len(b)
		b = appendUint(b, `,"dev":`, id.Dev)
		b = appendUint(b, `,"ino":`, id.Ino)
		b = appendUint(b, `,"nlink":`, id.Nlink)
		b = appendUint(b, `,"uid":`, uint64(id.UID))
		b = appendUint(b, `,"gid":`, uint64(id.GID))
		b = appendInt(b, `,"ctime":`, id.CTime)
		b = append(append(b[:start], b[start+1:]...), '}') // without the first comma
	}
	return append(b, '}')
}

func appendUint(b []byte, name string, n uint64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendUint(append(b, name...), n, 10)
}

func appendInt(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendOptional(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, name...), s)
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !isPlain(s[i]) {
			quoted, _ := json.Marshal(text(s)) // never fails for a string
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// isPlain reports whether a byte stands for itself in a string of package json, and in a text.
func isPlain(c byte) bool {
	switch c {
	case '"', '\\', '<', '>', '&', '%':
		return false
	}
	return c >= ' ' && c <= '~'
}

// scanner reads what appendRecord writes. It stops at the first byte that is something else.
type scanner struct {
	in          []byte
	bad, escape bool // escape says what is bad
}

// scanRecord reads a line. The error gives the place at which it is something else.
func scanRecord(line []byte) (r Record, err error) {
	s := scanner{in: line}
	s.want(`{"path":`)
	r.Path = s.string()
	r.From = s.optional(`,"from":`)
	s.want(`,"old":`)
	s.state(&r.Old)
	s.want(`,"new":`)
	s.state(&r.New)
	s.want(`,"slot":`)
	slot := s.uint(math.MaxInt32)
	r.Slot = int(slot)
	r.Image = Image(s.optional(`,"image":`))
	r.Moved = s.have(`,"moved":true`)
	r.Attr = s.have(`,"attr":true`)
	r.Trash = s.have(`,"trash":true`)
	r.Permanent = s.have(`,"permanent":true`)
	r.FarDir = s.optional(`,"far_dir":`)
	s.want(`}`)
	switch at := line[max(0, len(line)-len(s.in)-len(`"permanent":`)):]; {
	case s.escape:
		return r, errEscape
	case s.bad:
		return r, fmt.Errorf("it is another record near %.60q", at)
	case len(s.in) > 0:
		return r, errAfter
	}
	return r, nil
}

func (s *scanner) state(st *change.State) {
	s.want(`{"kind":`)
	s.kind(&st.Kind)
	if s.have(`,"mode":`) {
		st.Mode = fs.FileMode(s.uint(math.MaxUint32))
	}
	if s.have(`,"size":`) {
		st.Size = s.int()
	}
	if s.have(`,"sha256":"`) {
		s.hash(&st.Hash)
	}
	st.Target = s.optional(`,"target":`)
	if s.have(`,"mtime":[`) {
		sec := s.int()
		s.want(`,`)
		nsec := int64(s.uint(math.MaxInt64))
		s.want(`]`)
		st.ModTime = time.Unix(sec, nsec)
	}
	if s.have(`,"id":{`) {
		s.identity(&st.ID)
	}
	s.want(`}`)
}

func (s *scanner) identity(id *capability.Identity) {
	comma := ""
	field := func(name string, most uint64) uint64 {
		if !s.have(comma + name) {
			return 0
		}
		comma = ","
		return s.uint(most)
	}
	id.Dev = field(`"dev":`, math.MaxUint64)
	id.Ino = field(`"ino":`, math.MaxUint64)
	id.Nlink = field(`"nlink":`, math.MaxUint64)
	id.UID = uint32(field(`"uid":`, math.MaxUint32))
	id.GID = uint32(field(`"gid":`, math.MaxUint32))
	if s.have(comma + `"ctime":`) {
		id.CTime = s.int()
	}
	s.want(`}`)
}

func (s *scanner) kind(k *change.Kind) {
	for _, c := range [...]change.Kind{change.Absent, change.File, change.Dir, change.Symlink, change.Other} {
		if s.have(`"` + c.String() + `"`) {
			*k = c
			return
		}
	}
	s.bad = true
}

func (s *scanner) hash(h *change.Hash) {
	digits := hex.EncodedLen(len(h))
	if len(s.in) <= digits || s.in[digits] != '"' {
		s.bad = true
		return
	}
	if _, err := hex.Decode(h[:], s.in[:digits]); err != nil {
		s.bad = true
	}
	s.in = s.in[digits+1:]
}

// have takes the text away if it comes next.
func (s *scanner) have(text string) bool {
	if s.bad || len(s.in) < len(text) || string(s.in[:len(text)]) != text {
		return false
	}
	s.in = s.in[len(text):]
	return true
}

func (s *scanner) want(text string) {
	if !s.have(text) {
		s.bad = true
	}
}

func (s *scanner) optional(name string) string {
	if !s.have(name) {
		return ""
	}
	return s.string()
}

func (s *scanner) string() string {
	if s.bad || len(s.in) == 0 || s.in[0] != '"' {
		s.bad = true
		return ""
	}
	n := 1
	for n < len(s.in) && isPlain(s.in[n]) {
		n++
	}
	if n < len(s.in) && s.in[n] == '"' {
		plain := string(s.in[1:n])
		s.in = s.in[n+1:]
		return plain
	}
	for ; n < len(s.in) && s.in[n] != '"'; n++ {
		if s.in[n] == '\\' {
			n++ // what comes next does not end the string
		}
	}
	var quoted text
	if n >= len(s.in) {
		s.bad = true
		return ""
	}
	if err := json.Unmarshal(s.in[:n+1], &quoted); err != nil {
		s.bad, s.escape = true, errors.Is(err, errEscape)
		return ""
	}
	s.in = s.in[n+1:]
	return string(quoted)
}

func (s *scanner) uint(most uint64) uint64 {
	n := uint64(0)
	i := 0
	for ; i < len(s.in) && s.in[i] >= '0' && s.in[i] <= '9'; i++ {
		digit := uint64(s.in[i] - '0')
		if n > (most-digit)/10 {
			s.bad = true
			return 0
		}
		n = n*10 + digit
	}
	if i == 0 || i > 1 && s.in[0] == '0' {
		s.bad = true
	}
	s.in = s.in[i:]
	return n
}

func (s *scanner) int() int64 {
	if s.have("-") {
		return -int64(s.uint(1 << 63))
	}
	return int64(s.uint(math.MaxInt64))
}

package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

// A plan has a line for each of thousands of paths, so the lines are written and read without package json. They are
// objects in JSON with their members in a fixed order, without members that have the zero value, and without spaces.
// The reader accepts no other form.

// coder writes a line or reads one. The form of each object is described once, for both: a method goes through its
// members, and writes or sets each.
type coder struct {
	reading bool
	out     []byte // the text written so far
	in      []byte // the text not read yet
	first   bool   // the next member is the first of its object or list, and has no comma before it
	bad     error  // why in is invalid
}

var (
	errForm   = errors.New("it has another form")
	errEscape = errors.New("bad escape in a string")
)

func (c *coder) header(h *Header, paths *int) {
	c.want(`{"version":`)
	c.count(&h.Version)
	c.want(`,"id":`)
	c.string(&h.ID)
	c.want(`,"time":`)
	if !c.has(`null`, h.Time.IsZero()) {
		c.time(&h.Time)
	}
	c.optional(`,"run_id":`, &h.RunID)
	c.optional(`,"pipeline":`, &h.Pipeline)
	c.want(`,"state_dir":`)
	c.string(&h.StateDir)
	c.flag(`,"sync":true`, &h.Sync)
	c.flag(`,"keep":true`, &h.Keep)
	c.hash(`,"result":"`, &h.Result)
	number(c, `,"dev":`, &h.Dev)
	number(c, `,"ino":`, &h.Ino)
	if c.has(`,"can":[`, h.Can != nil) {
		c.first = true
		found := []string{}
		for _, name := range [...]string{"exchange", "link", "no_replace"} {
			if c.has(`,"`+name+`"`, slices.Contains(h.Can, name)) {
				found = append(found, name)
			}
		}
		if c.reading {
			h.Can = found
		}
		c.want(`]`)
	}
	c.want(`,"paths":`)
	c.count(paths)
	c.optional(`,"restores":`, &h.Restores)
	c.want(`}`)
}

func (c *coder) record(r *Record) {
	c.want(`{"path":`)
	c.string(&r.Path)
	c.optional(`,"from":`, &r.From)
	c.want(`,"old":`)
	c.state(&r.Old)
	c.want(`,"new":`)
	c.state(&r.New)
	c.want(`,"slot":`)
	c.count(&r.Slot)
	c.optional(`,"image":`, (*string)(&r.Image))
	c.flag(`,"moved":true`, &r.Moved)
	c.flag(`,"attr":true`, &r.Attr)
	c.flag(`,"trash":true`, &r.Trash)
	c.flag(`,"permanent":true`, &r.Permanent)
	c.optional(`,"far_dir":`, &r.FarDir)
	c.flag(`,"in_place":true`, &r.InPlace)
	c.want(`}`)
}

func (c *coder) state(s *change.State) {
	c.want(`{"kind":"`)
	c.kind(&s.Kind)
	number(c, `,"mode":`, &s.Mode)
	c.signed(`,"size":`, &s.Size)
	c.hash(`,"sha256":"`, &s.Hash)
	c.optional(`,"target":`, &s.Target)
	if c.has(`,"mtime":`, !s.ModTime.IsZero()) {
		c.time(&s.ModTime)
	}
	if id := &s.ID; c.has(`,"id":{`, *id != capability.Identity{}) {
		c.first = true
		number(c, `,"dev":`, &id.Dev)
		number(c, `,"ino":`, &id.Ino)
		number(c, `,"nlink":`, &id.Nlink)
		number(c, `,"uid":`, &id.UID)
		number(c, `,"gid":`, &id.GID)
		c.signed(`,"ctime":`, &id.CTime)
		c.want(`}`)
	}
	c.want(`}`)
}

// has handles optional text. When writing, it writes the text if set. When reading, it consumes the text if that comes
// next. It reports whether the text was written or consumed.
func (c *coder) has(text string, set bool) bool {
	if c.first && text[0] == ',' {
		text = text[1:]
	}
	if c.reading {
		if set = c.bad == nil && len(c.in) >= len(text) && string(c.in[:len(text)]) == text; set {
			c.in = c.in[len(text):]
		}
	} else if set {
		c.out = append(c.out, text...)
	}
	c.first = c.first && !set
	return set
}

// want is has for mandatory text.
func (c *coder) want(text string) {
	if !c.has(text, true) {
		c.fail(errForm)
	}
}

// fail keeps the first error.
func (c *coder) fail(err error) {
	if c.bad == nil {
		c.bad = err
	}
}

func (c *coder) flag(text string, set *bool) {
	if is := c.has(text, *set); c.reading {
		*set = is
	}
}

func (c *coder) kind(k *change.Kind) {
	for _, one := range [...]change.Kind{change.Absent, change.File, change.Dir, change.Symlink, change.Other} {
		if c.has(one.String(), one == *k) {
			if c.reading {
				*k = one
			}
			break
		}
	}
	c.want(`"`)
}

func (c *coder) hash(name string, h *change.Hash) {
	if !c.has(name, *h != change.Hash{}) {
		return
	}
	if !c.reading {
		c.out = hex.AppendEncode(c.out, h[:])
	} else {
		digits := min(hex.EncodedLen(len(h)), len(c.in))
		if n, err := hex.Decode(h[:], c.in[:digits]); err != nil || n != len(h) {
			c.fail(errForm)
		}
		c.in = c.in[digits:]
	}
	c.want(`"`)
}

// time handles a time to the nanosecond of any year: seconds since 1970 and nanoseconds.
func (c *coder) time(t *time.Time) {
	if !c.reading {
		c.out = strconv.AppendInt(append(c.out, '['), t.Unix(), 10)
		c.out = strconv.AppendInt(append(c.out, ','), int64(t.Nanosecond()), 10)
		c.out = append(c.out, ']')
		return
	}
	c.want(`[`)
	sec := c.readSigned()
	c.want(`,`)
	nsec := c.readUnsigned(999_999_999)
	c.want(`]`)
	*t = time.Unix(sec, int64(nsec))
}

// count handles a mandatory number that is not negative.
func (c *coder) count(n *int) {
	if c.reading {
		*n = int(c.readUnsigned(math.MaxInt32))
	} else {
		c.out = strconv.AppendInt(c.out, int64(*n), 10)
	}
}

func number[T ~uint32 | ~uint64](c *coder, name string, n *T) {
	if !c.has(name, *n != 0) {
		return
	}
	if c.reading {
		*n = T(c.readUnsigned(uint64(^T(0))))
	} else {
		c.out = strconv.AppendUint(c.out, uint64(*n), 10)
	}
}

func (c *coder) signed(name string, n *int64) {
	if !c.has(name, *n != 0) {
		return
	}
	if c.reading {
		*n = c.readSigned()
	} else {
		c.out = strconv.AppendInt(c.out, *n, 10)
	}
}

func (c *coder) readSigned() int64 {
	if c.has(`-`, false) {
		return -int64(c.readUnsigned(1 << 63))
	}
	return int64(c.readUnsigned(math.MaxInt64))
}

func (c *coder) readUnsigned(most uint64) uint64 {
	n, i := uint64(0), 0
	for ; i < len(c.in) && c.in[i] >= '0' && c.in[i] <= '9'; i++ {
		digit := uint64(c.in[i] - '0')
		if n > (most-digit)/10 {
			c.fail(errForm)
			return 0
		}
		n = n*10 + digit
	}
	if i == 0 || i > 1 && c.in[0] == '0' {
		c.fail(errForm)
	}
	c.in = c.in[i:]
	return n
}

func (c *coder) optional(name string, s *string) {
	if c.has(name, *s != "") {
		c.string(s)
	}
}

// string handles a string of JSON that need not be UTF-8: invalid bytes and the percent sign are written as %XX.
func (c *coder) string(s *string) {
	if c.reading {
		*s = c.readString()
		return
	}
	for i := range len(*s) {
		if !isPlain((*s)[i]) {
			quoted, _ := json.Marshal(escaped(*s)) // never fails for a string
			c.out = append(c.out, quoted...)
			return
		}
	}
	c.out = append(append(append(c.out, '"'), *s...), '"')
}

func (c *coder) readString() string {
	in := c.in
	if c.want(`"`); c.bad != nil {
		return ""
	}
	n := 0
	for n < len(c.in) && isPlain(c.in[n]) {
		n++
	}
	if n < len(c.in) && c.in[n] == '"' {
		plain := string(c.in[:n])
		c.in = c.in[n+1:]
		return plain
	}
	for ; n < len(c.in) && c.in[n] != '"'; n++ {
		if c.in[n] == '\\' {
			n++ // the next byte does not end the string
		}
	}
	if n >= len(c.in) {
		c.fail(errForm)
		return ""
	}
	var text string
	if err := json.Unmarshal(in[:len(`"`)+n+len(`"`)], &text); err != nil {
		c.fail(errForm)
		return ""
	}
	c.in = c.in[n+1:]
	text, err := url.PathUnescape(text)
	if err != nil {
		c.fail(errEscape)
	}
	return text
}

// isPlain reports whether a byte is written unescaped in a string, both by package json and in a plan.
func isPlain(b byte) bool {
	switch b {
	case '"', '\\', '<', '>', '&', '%':
		return false
	}
	return b >= ' ' && b <= '~'
}

func escaped(s string) string {
	var b strings.Builder
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == '%' || r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02x", s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// end returns the error of the line after it was read, and about where it is.
func (c *coder) end(line []byte) error {
	switch at := line[max(0, len(line)-len(c.in)-len(`"permanent":`)):]; {
	case c.bad != nil:
		return fmt.Errorf("%w near %.60q", c.bad, at)
	case len(c.in) > 0:
		return errors.New("text after the value")
	}
	return nil
}

package patch

import (
	"regexp"
	"strings"
	"time"
)

// unquote reads a name in double quotes in the format of git and diff, with C escapes. tail is the text after the
// closing quote; wrong is the problem, "" if there is none.
func unquote(text string) (name, tail, wrong string) {
	const letters, values = "abtnvfr\"\\", "\a\b\t\n\v\f\r\"\\"
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			if strings.IndexByte(b.String(), 0) >= 0 {
				return "", "", "a NUL byte is in the name of the file"
			}
			return b.String(), text[i+1:], ""
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(text):
			return "", "", "the name of the file ends within an escape"
		default:
			i++
			if k := strings.IndexByte(letters, text[i]); k >= 0 {
				b.WriteByte(values[k])
				continue
			}
			if i+2 >= len(text) || text[i] < '0' || text[i] > '3' || !octal(text[i+1]) || !octal(text[i+2]) {
				return "", "", "the name of the file has an unknown escape"
			}
			b.WriteByte((text[i]-'0')<<6 | (text[i+1]-'0')<<3 | (text[i+2] - '0'))
			i += 2
		}
	}
	return "", "", "the name of the file has no closing quote"
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// isEpoch reports whether the time after a file's name marks an absent file: diff -N writes the first second of 1970.
func isEpoch(stamp string) bool {
	stamp = strings.TrimSpace(stamp)
	if !strings.HasPrefix(stamp, "1970-01-01 ") && !strings.HasPrefix(stamp, "1969-12-31 ") {
		return false
	}
	for _, layout := range []string{"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00"} {
		if t, err := time.Parse(layout, stamp); err == nil {
			return t.Unix() == 0 && t.Nanosecond() == 0
		}
	}
	return false
}

// A time at the end of a line, separated from the name by blanks. A date alone may also be the end of a name: git takes
// it for a time only if no line "diff --git" has the name.
var (
	stamped = regexp.MustCompile(` +(?:\d\d)?\d\d-\d\d-\d\d +\d\d:\d\d:\d\d(?:\.\d+)?(?: +[+-]\d\d:?\d\d)? *$`)
	dated   = regexp.MustCompile(` +(?:\d\d)?\d\d-\d\d-\d\d *$|` + stamped.String())
)

// longestStamp is how many bytes at the end of a line are searched for a time and the blanks before it.
const longestStamp = 200

// stampAt returns the offset of a time at the end of a line, including the blanks before it; 0 without a time.
func stampAt(line string, times *regexp.Regexp) int {
	skip := max(0, len(line)-longestStamp)
	at := times.FindStringIndex(line[skip:])
	if at == nil {
		return 0
	}
	return len(strings.TrimRight(line[:skip+at[0]], " "))
}

// gitNames splits the text after "diff --git " into both names, with their prefixes. If they are not quoted, the first
// name ends where both names are equal without the stripped parts.
func gitNames(rest string, strip int) (old, now string, ok bool) {
	rest = strings.TrimSuffix(rest, "\r")
	if strings.HasPrefix(rest, `"`) {
		old, tail, wrong := unquote(rest)
		tail, spaced := strings.CutPrefix(tail, " ")
		if wrong != "" || !spaced {
			return "", "", false
		}
		if !strings.HasPrefix(tail, `"`) {
			return old, tail, tail != ""
		}
		now, after, wrong := unquote(tail)
		return old, now, wrong == "" && after == ""
	}
	if i := strings.Index(rest, ` "`); i >= 0 && strings.HasSuffix(rest, `"`) {
		if now, after, wrong := unquote(rest[i+1:]); wrong == "" && after == "" {
			return rest[:i], now, true
		}
	}
	if len(rest) > 2*maxName+100 {
		return "", "", false
	}
	// Usually both names have the same length. Otherwise the prefixes differ in length, and the search continues from the
	// beginning.
	const tries = 100
	at := len(rest) / 2
	for i, next := 0, 0; i < tries && at < len(rest); i++ {
		if rest[at] == ' ' {
			a, ok1 := stripped(rest[:at], strip)
			b, ok2 := stripped(rest[at+1:], strip)
			if ok1 && ok2 && a == b && a != "" {
				return rest[:at], rest[at+1:], true
			}
		}
		k := strings.IndexByte(rest[next:], ' ')
		if k < 0 {
			break
		}
		at = next + k
		next = at + 1
	}
	return "", "", false
}

// maxName is the largest length of a file name, in bytes: the limit of systems for a path.
const maxName = 4096

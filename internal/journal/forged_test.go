package journal_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/journal"
)

// forge makes a plan file from the header and the records, with their checksums, signed with the key, if any.
// It does not use the package, so it also tests that the documentation of the format is true.
func forge(key []byte, payloads ...string) []byte {
	var b bytes.Buffer
	b.WriteString("millrace plan 1\n")
	for _, p := range payloads {
		fmt.Fprintf(&b, "%08x %s\n", crc32.Checksum([]byte(p), crc32.MakeTable(crc32.Castagnoli)), p)
	}
	return seal(key, b.Bytes())
}

// seal adds the last line.
func seal(key, body []byte) []byte {
	mac := "-"
	if key != nil {
		h := hmac.New(sha256.New, key)
		fmt.Fprintf(h, "millrace plan v1\x00%s", body)
		mac = fmt.Sprintf("%x", h.Sum(nil))
	}
	return fmt.Appendf(bytes.Clone(body), "sum %x %s\n", sha256.Sum256(body), mac)
}

const (
	goodHeader = `{"version":1,"id":"20250213_120530_abc123def4567890","time":[1800000000,5],"state_dir":".millrace","paths":1}`
	goodRecord = `{"path":"a/b/c%25","old":{"kind":"absent"},"new":{"kind":"symlink","target":"x%ff"},"slot":0}`
)

// TestForged checks that every line is validated even if the author of the file could make its checksums and its
// signature.
func TestForged(t *testing.T) {
	t.Parallel()
	change := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	tests := []struct {
		name           string
		header, record string
		want           journal.Reason // "" if it is to be accepted
		line           int
		text           string // part of the message
	}{
		{name: "good", header: goodHeader, record: goodRecord},
		{"unknown field in the header", change(goodHeader, `"paths"`, `"more":1,"paths"`), goodRecord, journal.BadFormat, 2, "more"},
		{"header is cut", goodHeader[:40], goodRecord, journal.BadFormat, 2, "near"},
		{"text after the header", goodHeader + " {}", goodRecord, journal.BadFormat, 2, "text after the value"},
		{"another version in the header", change(goodHeader, `"version":1`, `"version":2`), goodRecord, journal.BadVersion, 0, "header says 2"},
		{"more records than there are", change(goodHeader, `"paths":1`, `"paths":2`), goodRecord, journal.BadFormat, 0, "1 records where the header says 2"},
		{"id leads elsewhere", change(goodHeader, `"20250213_`, `"../`), goodRecord, journal.BadRecord, 0, "id "},
		{"unknown field in a record", goodHeader, change(goodRecord, `"slot"`, `"more":1,"slot"`), journal.BadFormat, 3, "more"},
		{"record of another type", goodHeader, change(goodRecord, `"slot":0`, `"slot":"0"`), journal.BadFormat, 3, "slot"},
		{"text after a record", goodHeader, goodRecord + "x", journal.BadFormat, 3, "text after the value"},
		{"unknown kind", goodHeader, change(goodRecord, "symlink", "hole"), journal.BadFormat, 3, "hole"},
		{"escape is cut", goodHeader, change(goodRecord, "x%ff", "x%f"), journal.BadFormat, 3, "bad escape"},
		{"escape is not hexadecimal", goodHeader, change(goodRecord, "x%ff", "x%zz"), journal.BadFormat, 3, "bad escape"},
		{"escapes make a path", goodHeader, change(goodRecord, "a/b/c%25", "%2e%2e/b"), journal.BadPath, 0, `"../b"`},
		{"escapes make a state directory", goodHeader, change(goodRecord, "a/b/c%25", "%2emillrace/lock"), journal.BadPath, 0, `".millrace/lock"`},
	}
	for _, tt := range tests {
		for _, k := range [][]byte{nil, key} {
			p, err := journal.Decode(forge(k, tt.header, tt.record), k)
			if tt.want == "" {
				if err != nil || p.Records[0].Path != "a/b/c%" || p.Records[0].New.Target != "x\xff" {
					t.Errorf("%s: %+v, %v", tt.name, p, err)
				}
				continue
			}
			e, ok := errors.AsType[*journal.Error](err)
			if !ok {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			} else if e.Reason != tt.want || e.Line != tt.line || !strings.Contains(err.Error(), tt.text) || p != nil {
				t.Errorf("%s: %v (line %d), want %s, line %d, %q", tt.name, err, e.Line, tt.want, tt.line, tt.text)
			}
		}
	}
}

// TestSums breaks the sums that link the lines.
func TestSums(t *testing.T) {
	t.Parallel()
	good := forge(nil, goodHeader, goodRecord)
	at := bytes.LastIndex(good, []byte("sum "))
	body := good[:at]
	harmed := bytes.Replace(body, []byte("a/b/c"), []byte("a/b/d"), 1)
	tests := map[string]struct {
		data   []byte
		reason journal.Reason
		line   int
		text   string
	}{
		"no last line end":                 {good[:len(good)-1], journal.BadChecksum, 0, "does not end with a whole line"},
		"no sum":                           {body, journal.BadChecksum, 0, "has no sum"},
		"no signature":                     {append(bytes.Clone(body), "sum 00\n"...), journal.BadChecksum, 0, "has no sum"},
		"sum of something else":            {append(bytes.Clone(body), "sum 00 -\n"...), journal.BadChecksum, 0, "sum is wrong"},
		"record changed":                   {append(bytes.Clone(harmed), good[at:]...), journal.BadChecksum, 3, "(line 3)"},
		"record changed, new sum":          {seal(nil, harmed), journal.BadFormat, 3, "checksum of the line"},
		"line without a checksum":          {seal(nil, []byte("millrace plan 1\nhello\n")), journal.BadFormat, 2, "checksum of the line"},
		"signature where none is expected": {seal(key, body), journal.BadKey, 0, "key of this user"},
		"nothing but sums":                 {seal(nil, []byte("millrace plan 1\n")), journal.BadVersion, 0, "header says 0"},
	}
	for name, tt := range tests {
		_, err := journal.Decode(tt.data, nil)
		e, ok := errors.AsType[*journal.Error](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Reason != tt.reason || tt.line > 0 && e.Line != tt.line || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v (line %d), want %s, line %d, %q", name, err, e.Line, tt.reason, tt.line, tt.text)
		}
		if !errors.Is(err, &journal.Error{Reason: tt.reason}) || errors.Is(err, &journal.Error{Reason: journal.BadIdentity}) || errors.Is(err, errors.New("x")) {
			t.Errorf("%s: is reported as another error", name)
		}
	}
}

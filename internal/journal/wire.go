package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
)

// text is a string in JSON that need not be UTF-8: bytes that are not, and the percent sign, are written as %XX.
type text string

func (t text) MarshalText() ([]byte, error) {
	s := string(t)
	if utf8.ValidString(s) && !strings.Contains(s, "%") {
		return []byte(s), nil
	}
	var out []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '%' || r == utf8.RuneError && n == 1 {
			out = append(out, '%')
			out = hex.AppendEncode(out, []byte{s[i]})
		} else {
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return out, nil
}

var (
	errEscape = errors.New("bad escape in a string")
	errAfter  = errors.New("text after the value")
)

func (t *text) UnmarshalText(in []byte) error {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '%' {
			out = append(out, in[i])
			continue
		}
		if i+2 >= len(in) {
			return errEscape
		}
		var err error
		if out, err = hex.AppendDecode(out, in[i+1:i+3]); err != nil {
			return errEscape
		}
		i += 2
	}
	*t = text(out)
	return nil
}

// wireTime is a time to the nanosecond that has no limits on the year: seconds since 1970 and nanoseconds. Nil is the
// zero Time.
type wireTime *[2]int64

func toWireTime(t time.Time) wireTime {
	if t.IsZero() {
		return nil
	}
	return &[2]int64{t.Unix(), int64(t.Nanosecond())}
}

func fromWireTime(t wireTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Unix(t[0], t[1])
}

type wireHeader struct {
	Version  int         `json:"version"`
	ID       string      `json:"id"`
	Time     wireTime    `json:"time"`
	RunID    text        `json:"run_id,omitempty"`
	Pipeline text        `json:"pipeline,omitempty"`
	StateDir text        `json:"state_dir"`
	Sync     bool        `json:"sync,omitempty"`
	Keep     bool        `json:"keep,omitempty"`
	Result   change.Hash `json:"result,omitzero"`
	Dev      uint64      `json:"dev,omitempty"`
	Ino      uint64      `json:"ino,omitempty"`
	Can      []string    `json:"can,omitzero"`
	Paths    int         `json:"paths"`
	Restores text        `json:"restores,omitempty"`
}

func toWireHeader(p *Plan) wireHeader {
	h := &p.Header
	return wireHeader{
		h.Version, h.ID, toWireTime(h.Time), text(h.RunID), text(h.Pipeline), text(h.StateDir), h.Sync, h.Keep, h.Result,
		h.Dev, h.Ino, h.Can, len(p.Records), text(h.Restores),
	}
}

func fromWireHeader(w wireHeader) Header {
	return Header{
		w.Version, w.ID, fromWireTime(w.Time), string(w.RunID), string(w.Pipeline), string(w.Restores), string(w.StateDir), w.Sync,
		w.Keep, w.Result, w.Dev, w.Ino, w.Can,
	}
}

// unmarshal reads exactly one JSON value with known fields only.
func unmarshal(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errAfter
	}
	return nil
}

package charset_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/charset"
	"github.com/millrace-go/millrace/internal/splice"
)

// TestSplicesProperty: changes of the decoded text, applied to the bytes of the file, decode to the changed text, and
// bytes outside the changes stay.
func TestSplicesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]charset.Encoding{charset.UTF16LE, charset.UTF16BE, charset.Latin1, charset.Auto, charset.UTF8}).Draw(t, "encoding")
		pieces := []string{"a", "é", "\n", "\r\n", " "}
		if e != charset.Latin1 {
			pieces = append(pieces, "世", "\U0001f600")
		}
		text := func(label string) []byte {
			return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, label), ""))
		}
		data := encoded(t, e, text("text"), rapid.Bool().Draw(t, "mark"))
		decoded, err := e.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		var list []change.Splice
		want := []byte{}
		last := 0
		for i := range string(decoded.UTF8) {
			if i < last || rapid.IntRange(0, 3).Draw(t, "here") > 0 {
				continue
			}
			end := i + len([]byte(string([]rune(string(decoded.UTF8[i:]))[:1])))
			s := change.Splice{Off: int64(i), Len: int64(end - i), Text: text("new")}
			want = append(append(want, decoded.UTF8[last:i]...), s.Text...)
			list, last = append(list, s), end
		}
		want = append(want, decoded.UTF8[last:]...)
		changes, err := decoded.Splices(list)
		if err != nil {
			t.Fatal(err)
		}
		made, err := splice.Apply(data, changes)
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.Of(data).Decode(made)
		if err != nil || !bytes.Equal(again.UTF8, want) {
			t.Fatalf("%v: %q became %q (%v), want %q", e, decoded.UTF8, again.UTF8, err, want)
		}
	})
}

// encoded encodes a text by iconv's rules, without the package.
func encoded(t *rapid.T, e charset.Encoding, text []byte, mark bool) []byte {
	if e == charset.Auto {
		e, mark = charset.UTF16LE, true
	}
	var out []byte
	if mark && e == charset.UTF16LE {
		out = []byte{0xff, 0xfe}
	} else if mark && e == charset.UTF16BE {
		out = []byte{0xfe, 0xff}
	}
	for _, r := range string(text) {
		switch {
		case e == charset.UTF8:
			out = append(out, string(r)...)
		case e == charset.Latin1:
			out = append(out, byte(r))
		case r >= 0x10000:
			high, low := 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff
			out = pair(pair(out, high, e), low, e)
		default:
			out = pair(out, r, e)
		}
	}
	return out
}

func pair(out []byte, unit rune, e charset.Encoding) []byte {
	if e == charset.UTF16BE {
		return append(out, byte(unit>>8), byte(unit))
	}
	return append(out, byte(unit), byte(unit>>8))
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		e    charset.Encoding
		data string
	}{
		"odd":             {charset.UTF16LE, "a\x00b"},
		"half a pair":     {charset.UTF16LE, "\x00\xd8a\x00"},
		"half at the end": {charset.UTF16BE, "\xd8\x00"},
		"second half":     {charset.UTF16LE, "\x00\xdc"},
	} {
		if _, err := test.e.Decode([]byte(test.data)); !errors.Is(err, charset.ErrNotText) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := charset.Latin1.Decode([]byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"世", "\xff"} {
		if _, err := text.Splices([]change.Splice{{Len: 1, Text: []byte(with)}}); err == nil {
			t.Errorf("%q was written in latin1", with)
		}
	}
	if charset.Marked([]byte("\xff\xfe\x00\x00a\x00\x00\x00")) != charset.UTF8 {
		t.Error("UTF-32 was read as UTF-16")
	}
}

// TestIconv compares with iconv.
func TestIconv(t *testing.T) {
	t.Parallel()
	iconv, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("iconv is not installed")
	}
	const text = "añb\r\n世\U0001f600\n"
	for e, name := range map[charset.Encoding]string{charset.UTF16LE: "UTF-16LE", charset.UTF16BE: "UTF-16BE", charset.Latin1: "ISO-8859-1"} {
		source := text
		if e == charset.Latin1 {
			source = "añb\r\n"
		}
		cmd := exec.Command(iconv, "-f", "UTF-8", "-t", name)
		cmd.Stdin = strings.NewReader(source)
		data, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Decode(data)
		if err != nil || string(got.UTF8) != source {
			t.Errorf("%v: %q, %v", e, got.UTF8, err)
		}
	}
}

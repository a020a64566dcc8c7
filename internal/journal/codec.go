package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/millrace-go/millrace/capability"
)

// The format, a line each:
//
//	millrace plan 1
//	<crc32c> <header>
//	<crc32c> <record>          as many as the header says
//	sum <sha256> <hmac-sha256>
//
// Both sums in the last line are over all the lines before it. Without a key the second is "-".
const (
	magic   = "millrace plan "
	sumWord = "sum "
	noMAC   = "-"
	// macContext keeps a plan's HMAC from being taken for that of something else signed with the same key.
	macContext = "millrace plan v1\x00"
)

// leastLine is how long the line of a record is at least.
const leastLine = len(`01234567 {"path":"a","old":{"kind":"dir"},"new":{"kind":"dir"},"slot":0}`) + 1

// crc32.MakeTable returns the same table each time for this polynomial.
func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// MaxSize is how large the file of a plan can be, in bytes: enough for more than a million paths.
const MaxSize = 1 << 30

// Encode returns the file of the plan, signed with the key, or just checksummed if that is empty. It sets the
// version, and refuses a plan that Decode, or Read, would refuse.
func Encode(p *Plan, key []byte) ([]byte, error) { return encode(p, key, MaxSize) }

func encode(p *Plan, key []byte, limit int) ([]byte, error) {
	p.Version = Version
	if err := p.Validate(); err != nil {
		return nil, err
	}
	out := make([]byte, 0, 512*(len(p.Records)+2))
	out = append(out, magic+strconv.Itoa(Version)+"\n"...)
	var crc [4]byte
	line := func(appendTo func(b []byte) []byte) {
		out = append(out, "01234567 "...)
		start := len(out)
		out = appendTo(out)
		binary.BigEndian.PutUint32(crc[:], crcOf(out[start:]))
		hex.Encode(out[start-9:], crc[:])
		out = append(out, '\n')
	}
	header, _ := json.Marshal(toWireHeader(p)) // never fails for this type
	line(func(b []byte) []byte { return append(b, header...) })
	for i := range p.Records {
		line(func(b []byte) []byte { return appendRecord(b, &p.Records[i]) })
	}
	sum := sha256.Sum256(out)
	mac := macOf(out, key)
	out = hex.AppendEncode(append(out, sumWord...), sum[:])
	if out = append(out, " "+mac+"\n"...); len(out) > limit {
		return nil, &Error{Reason: TooLarge, Err: fmt.Errorf("%d paths need %d bytes, at most %d are read again", len(p.Records), len(out), limit)}
	}
	return out, nil
}

// Read reads the file of a plan. More than MaxSize is an *Error: nothing of a plan may be cut off.
func Read(from capability.ReadFile) ([]byte, error) { return read(from, MaxSize) }

func read(from capability.ReadFile, limit int64) ([]byte, error) {
	info, err := from.Stat()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), limit)) + bytes.MinRead) // else it would be copied over and over
	if _, err := b.ReadFrom(io.LimitReader(from, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &Error{Reason: TooLarge, Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return b.Bytes(), nil
}

func macOf(data, key []byte) string {
	if len(key) == 0 {
		return noMAC
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(macContext))
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

// Decode reads what Encode wrote, with the same key, and checks all that can be checked without a file system. Whatever
// is wrong is an *Error.
//
// A plan without a signature is refused when there is a key, and one with a signature when there is none: otherwise
// whoever makes up a plan could choose.
func Decode(data, key []byte) (*Plan, error) {
	return decode(data, func(body, mac []byte) bool { return hmac.Equal(mac, []byte(macOf(body, key))) })
}

// DecodeTrusted is Decode for a plan that somebody vouches for, whoever has signed it.
func DecodeTrusted(data []byte) (*Plan, error) {
	return decode(data, func([]byte, []byte) bool { return true })
}

func decode(data []byte, signed func(body, mac []byte) bool) (*Plan, error) {
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	body, err := checkSums(data, signed)
	if err != nil {
		return nil, err
	}
	header, rest, err := decodeHeader(body)
	if err != nil {
		return nil, err
	}
	p := &Plan{Header: fromWireHeader(header)}
	n := bytes.Count(rest, []byte("\n"))
	if header.Paths != n {
		return nil, &Error{Reason: BadFormat, Err: fmt.Errorf("%d records where the header says %d", n, header.Paths)}
	}
	if n > 0 {
		p.Records = make([]Record, 0, min(n, len(rest)/leastLine)) // a line may be empty, and a record is large
	}
	for i := range n {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		payload, err := checkLine(line)
		var r Record
		if err == nil {
			r, err = scanRecord(payload)
		}
		if err != nil {
			return nil, &Error{Reason: BadFormat, Line: i + 3, Err: err}
		}
		p.Records = append(p.Records, r)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// DecodeHeader reads only what a plan says of the transaction as a whole, after the same checks of the whole file. It
// does not look at the records.
func DecodeHeader(data, key []byte) (Header, error) {
	if err := checkVersion(data); err != nil {
		return Header{}, err
	}
	body, err := checkSignature(data, key)
	if err != nil {
		return Header{}, err
	}
	w, _, err := decodeHeader(body)
	if err != nil {
		return Header{}, err
	}
	p := Plan{Header: fromWireHeader(w)}
	if err := p.validateHeader(); err != nil {
		return Header{}, &Error{Reason: BadRecord, Err: err}
	}
	return p.Header, nil
}

// decodeHeader returns the header and the lines after it.
func decodeHeader(body []byte) (w wireHeader, rest []byte, err error) {
	_, rest, _ = bytes.Cut(body, []byte("\n"))
	if len(rest) > 0 {
		var line, payload []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if payload, err = checkLine(line); err == nil {
			err = unmarshal(payload, &w)
		}
	}
	switch {
	case err != nil:
		return w, nil, &Error{Reason: BadFormat, Line: 2, Err: err}
	case w.Version != Version:
		return w, nil, &Error{Reason: BadVersion, Err: fmt.Errorf("header says %d", w.Version)}
	}
	return w, rest, nil
}

func checkVersion(data []byte) error {
	first, _, ok := bytes.Cut(data, []byte("\n"))
	version, isPlan := bytes.CutPrefix(first, []byte(magic))
	if !ok || !isPlan {
		return &Error{Reason: BadChecksum, Line: 1, Err: errors.New("not a plan file")}
	}
	if string(version) != strconv.Itoa(Version) {
		return &Error{Reason: BadVersion, Line: 1, Err: fmt.Errorf("version %q, this program knows %d", version, Version)}
	}
	return nil
}

// checkSums checks the last line and returns all before it.
func checkSums(data []byte, signed func(body, mac []byte) bool) ([]byte, error) {
	body, sum, mac, err := cutSums(data)
	if err != nil {
		return nil, err
	}
	want := sha256.Sum256(body)
	if string(sum) != hex.EncodeToString(want[:]) {
		if line := firstBadLine(body); line > 0 {
			return nil, &Error{Reason: BadChecksum, Line: line}
		}
		return nil, damaged("the sum is wrong")
	}
	if !signed(body, mac) {
		return nil, &Error{Reason: BadKey}
	}
	return body, nil
}

// checkSignature is checkSums that, where there is a signature, looks only at that: it says all that the sum does.
func checkSignature(data, key []byte) ([]byte, error) {
	signed := func(body, mac []byte) bool { return hmac.Equal(mac, []byte(macOf(body, key))) }
	body, _, mac, err := cutSums(data)
	if err == nil && len(key) > 0 && signed(body, mac) {
		return body, nil
	}
	return checkSums(data, signed)
}

// cutSums returns all before the last line, and the two sums in that.
func cutSums(data []byte) (body, sum, mac []byte, err error) {
	rest, ok := bytes.CutSuffix(data, []byte("\n"))
	if !ok {
		return nil, nil, nil, damaged("it does not end with a whole line")
	}
	at := bytes.LastIndexByte(rest, '\n') + 1
	sums, ok := bytes.CutPrefix(rest[at:], []byte(sumWord))
	sum, mac, ok2 := bytes.Cut(sums, []byte(" "))
	if !ok || !ok2 {
		return nil, nil, nil, damaged("it has no sum")
	}
	return data[:at], sum, mac, nil
}

func damaged(text string) error { return &Error{Reason: BadChecksum, Err: errors.New(text)} }

// firstBadLine says which line is damaged, 0 if that cannot be told.
func firstBadLine(body []byte) int {
	n := 0
	for line := range bytes.SplitSeq(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		if n++; n == 1 {
			continue
		}
		if _, err := checkLine(line); err != nil {
			return n
		}
	}
	return 0
}

func checkLine(line []byte) ([]byte, error) {
	sum, payload, ok := bytes.Cut(line, []byte(" "))
	var want [4]byte
	binary.BigEndian.PutUint32(want[:], crcOf(payload))
	if !ok || string(sum) != hex.EncodeToString(want[:]) {
		return nil, errors.New("checksum of the line is wrong")
	}
	return payload, nil
}

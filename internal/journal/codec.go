package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
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

// crc32.MakeTable returns the same table each time for this polynomial.
func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// Encode returns the file of the plan, signed with the key, or just checksummed if that is empty. It sets the version, and
// refuses a plan that Decode would refuse.
func Encode(p *Plan, key []byte) ([]byte, error) {
	p.Version = Version
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(magic + strconv.Itoa(Version) + "\n")
	line := func(v any) {
		data, _ := json.Marshal(v) // never fails for the two types
		fmt.Fprintf(&b, "%08x %s\n", crcOf(data), data)
	}
	line(toWireHeader(p))
	for i := range p.Records {
		line(toWireRecord(&p.Records[i]))
	}
	sum := sha256.Sum256(b.Bytes())
	fmt.Fprintf(&b, sumWord+"%x %s\n", sum, macOf(b.Bytes(), key))
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
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	body, err := checkSums(data, key)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(body, []byte("\n"))[1:]
	p := new(Plan)
	var header wireHeader
	for i, line := range lines {
		payload, err := checkLine(line)
		if err == nil && i == 0 {
			err = unmarshal(payload, &header)
		} else if err == nil {
			var r wireRecord
			err = unmarshal(payload, &r)
			p.Records = append(p.Records, fromWireRecord(r))
		}
		if err != nil {
			return nil, &Error{Reason: BadFormat, Line: i + 2, Err: err}
		}
	}
	p.Header = fromWireHeader(header)
	if p.Version != Version {
		return nil, &Error{Reason: BadVersion, Err: fmt.Errorf("header says %d", p.Version)}
	}
	if header.Paths != len(p.Records) {
		return nil, &Error{Reason: BadFormat, Err: fmt.Errorf("%d records where the header says %d", len(p.Records), header.Paths)}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
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

// checkSums checks the last line and returns all before it but the last newline.
func checkSums(data, key []byte) ([]byte, error) {
	damaged := func(text string) ([]byte, error) {
		return nil, &Error{Reason: BadChecksum, Err: errors.New(text)}
	}
	rest, ok := bytes.CutSuffix(data, []byte("\n"))
	if !ok {
		return damaged("it does not end with a whole line")
	}
	at := bytes.LastIndexByte(rest, '\n') + 1
	sums, ok := bytes.CutPrefix(rest[at:], []byte(sumWord))
	sum, mac, ok2 := bytes.Cut(sums, []byte(" "))
	if !ok || !ok2 {
		return damaged("it has no sum")
	}
	want := sha256.Sum256(data[:at])
	if string(sum) != hex.EncodeToString(want[:]) {
		if line := firstBadLine(data[:at]); line > 0 {
			return nil, &Error{Reason: BadChecksum, Line: line}
		}
		return damaged("the sum is wrong")
	}
	if !hmac.Equal(mac, []byte(macOf(data[:at], key))) {
		return nil, &Error{Reason: BadKey}
	}
	return data[:at-1], nil
}

// firstBadLine says which line is damaged, 0 if that cannot be told.
func firstBadLine(body []byte) int {
	for i, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		if i == 0 {
			continue
		}
		if _, err := checkLine(line); err != nil {
			return i + 1
		}
	}
	return 0
}

func checkLine(line []byte) ([]byte, error) {
	sum, payload, ok := bytes.Cut(line, []byte(" "))
	if !ok || string(sum) != fmt.Sprintf("%08x", crcOf(payload)) {
		return nil, errors.New("checksum of the line is wrong")
	}
	return payload, nil
}

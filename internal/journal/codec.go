package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/millrace-go/millrace/internal/disk"
)

// The format, a line each:
//
//	millrace plan 1
//	<crc32c> <header>
//	<crc32c> <record>          as many as the header says
//	sum <sha256> <hmac-sha256>
//
// Both sums in the last line cover all lines before it. Without a key the second is "-".
const (
	magic   = "millrace plan "
	sumWord = "sum "
	noMAC   = "-"
	// macContext separates the HMAC of a plan from HMACs of other data signed with the same key.
	macContext = "millrace plan v1\x00"
)

// leastLine is the minimum length of the line of a record.
const leastLine = len(`01234567 {"path":"a","old":{"kind":"dir"},"new":{"kind":"dir"},"slot":0}`) + 1

// crc32.MakeTable returns the same table each time for this polynomial.
func crcOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// MaxSize limits the file of a plan, in bytes. It is enough for more than a million paths.
const MaxSize = 1 << 30

// Encode returns the file of the plan, signed with the key, or only checksummed if the key is empty. It sets the
// version, and refuses a plan that Decode or Read would refuse.
func Encode(p *Plan, key []byte) ([]byte, error) { return encode(p, key, MaxSize) }

func encode(p *Plan, key []byte, limit int) ([]byte, error) {
	p.Version = Version
	if err := p.Validate(); err != nil {
		return nil, err
	}
	out := make([]byte, 0, 512*(len(p.Records)+2))
	c := coder{out: append(out, magic+strconv.Itoa(Version)+"\n"...)}
	var crc [4]byte
	line := func(write func()) {
		c.out = append(c.out, "01234567 "...)
		start := len(c.out)
		write()
		binary.BigEndian.PutUint32(crc[:], crcOf(c.out[start:]))
		hex.Encode(c.out[start-9:], crc[:])
		c.out = append(c.out, '\n')
	}
	paths := len(p.Records)
	line(func() { c.header(&p.Header, &paths) })
	for i := range p.Records {
		line(func() { c.record(&p.Records[i]) })
	}
	out = c.out
	sum := sha256.Sum256(out)
	mac := macOf(out, key)
	out = hex.AppendEncode(append(out, sumWord...), sum[:])
	if out = append(out, " "+mac+"\n"...); len(out) > limit {
		return nil, &Error{Reason: TooLarge, Err: fmt.Errorf("%d paths need %d bytes, at most %d are read again",
			len(p.Records), len(out), limit)}
	}
	return out, nil
}

// Read reads the file of a plan. A file larger than MaxSize is an *Error: a plan must never be truncated.
func Read(d *disk.Disk, name string) ([]byte, error) { return read(d, name, MaxSize) }

func read(d *disk.Disk, name string, limit int64) ([]byte, error) {
	data, err := d.Read(name, limit+1)
	if err == nil && int64(len(data)) > limit {
		err = &Error{Reason: TooLarge, Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return data, err
}

// Load reads the file of a plan and decodes it.
func Load(d *disk.Disk, name string, key []byte) (*Plan, error) {
	data, err := Read(d, name)
	if err != nil {
		return nil, err
	}
	return Decode(data, key)
}

// LoadHeader is Load for [DecodeHeader].
func LoadHeader(d *disk.Disk, name string, key []byte) (*Plan, error) {
	data, err := Read(d, name)
	if err != nil {
		return nil, err
	}
	return DecodeHeader(data, key)
}

// PeekHeader reads only the header, and checks no sum and no signature of the file: it selects the plans to load.
func PeekHeader(d *disk.Disk, name string, key []byte) (*Plan, error) {
	data, err := d.Read(name, 64<<10)
	if err != nil {
		return nil, err
	}
	if bytes.Count(data, []byte("\n")) < 2 {
		return LoadHeader(d, name, key)
	}
	return validHeader(data)
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

// Decode reads what Encode wrote, with the same key, and checks everything that can be checked without a file system.
// Any fault is an *Error.
//
// A plan without a signature is refused when there is a key, and one with a signature when there is none. Otherwise the
// writer of a forged plan could choose.
func Decode(data, key []byte) (*Plan, error) { return decode(data, signedWith(key)) }

// DecodeTrusted is Decode for a plan that the caller trusts, regardless of its key.
func DecodeTrusted(data []byte) (*Plan, error) {
	return decode(data, func(_, _ []byte) bool { return true })
}

func decode(data []byte, signed func(body, mac []byte) bool) (*Plan, error) {
	body, err := checkSums(data, signed)
	if err != nil {
		return nil, err
	}
	p, n, rest, err := decodeHeader(body)
	if err != nil {
		return nil, err
	}
	if lines := bytes.Count(rest, []byte("\n")); n != lines {
		return nil, &Error{Reason: BadFormat, Err: fmt.Errorf("%d records where the header says %d", lines, n)}
	}
	if n > 0 {
		p.Records = make([]Record, 0, min(n, len(rest)/leastLine)) // lines can be empty, and a Record is large
	}
	for i := range n {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		payload, err := checkLine(line)
		if err == nil {
			p.Records = append(p.Records, Record{})
			c := coder{reading: true, in: payload}
			c.record(&p.Records[i])
			err = c.end(payload)
		}
		if err != nil {
			return nil, &Error{Reason: BadFormat, Line: i + 3, Err: err}
		}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// DecodeHeader returns the plan without its records, after the same checks of the whole file. It does not look at the
// records. With a key it checks only the signature, which covers as much as the sum.
func DecodeHeader(data, key []byte) (*Plan, error) {
	signed := signedWith(key)
	body, _, mac, err := cutSums(data)
	if err == nil && (len(key) == 0 || !signed(body, mac)) {
		body, err = checkSums(data, signed)
	}
	if err != nil {
		return nil, err
	}
	return validHeader(body)
}

func validHeader(body []byte) (*Plan, error) {
	p, _, _, err := decodeHeader(body)
	if err != nil {
		return nil, err
	}
	if err := p.validateHeader(); err != nil {
		return nil, &Error{Reason: BadRecord, Err: err}
	}
	return p, nil
}

// decodeHeader returns the plan without its records, the number of the records, and their lines.
func decodeHeader(body []byte) (p *Plan, paths int, rest []byte, err error) {
	p = new(Plan)
	_, rest, _ = bytes.Cut(body, []byte("\n"))
	if len(rest) > 0 {
		var line, payload []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if payload, err = checkLine(line); err == nil {
			c := coder{reading: true, in: payload}
			c.header(&p.Header, &paths)
			err = c.end(payload)
		}
	}
	switch {
	case err != nil:
		return nil, 0, nil, &Error{Reason: BadFormat, Line: 2, Err: err}
	case p.Version != Version:
		return nil, 0, nil, &Error{Reason: BadVersion, Err: fmt.Errorf("header says %d", p.Version)}
	}
	return p, paths, rest, nil
}

// signedWith returns a function that reports whether mac is the signature of body with the key.
func signedWith(key []byte) func(body, mac []byte) bool {
	return func(body, mac []byte) bool { return hmac.Equal(mac, []byte(macOf(body, key))) }
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

// cutSums checks the version, and returns everything before the last line, and the two sums in the last line.
func cutSums(data []byte) (body, sum, mac []byte, err error) {
	first, _, ok := bytes.Cut(data, []byte("\n"))
	version, isPlan := bytes.CutPrefix(first, []byte(magic))
	if !ok || !isPlan {
		return nil, nil, nil, &Error{Reason: BadChecksum, Line: 1, Err: errors.New("not a plan file")}
	}
	if string(version) != strconv.Itoa(Version) {
		return nil, nil, nil, &Error{Reason: BadVersion, Line: 1,
			Err: fmt.Errorf("version %q, this program knows %d", version, Version)}
	}
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

// firstBadLine returns the number of the first damaged line, 0 if it cannot be found.
func firstBadLine(body []byte) int {
	n := 0
	for line := range bytes.SplitSeq(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		n++
		if _, err := checkLine(line); err != nil && n > 1 {
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

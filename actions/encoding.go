package actions

import (
	"fmt"
	"math"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/charset"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// encodingOf returns the encoding with the name in a parameter, whose templates are expanded.
func encodingOf(name string) (charset.Encoding, error) {
	e, ok := charset.Parse(name)
	if !ok {
		return e, fmt.Errorf("unknown encoding '%s' (utf-8, auto, utf-16le, utf-16be or latin1)", name)
	}
	return e, nil
}

// utf16Error refuses a named file that is text but looks binary.
type utf16Error struct{}

func (e utf16Error) Error() string { return e.message().Error() }

func (utf16Error) message() *worded.Error {
	return worded.Errorf("is UTF-16 text%v", wording.Part{Kind: kinds.UTF16Refused, Text: ": use encoding auto"})
}

// As sets a target of a door to the parts of the message.
func (e utf16Error) As(target any) bool { return e.message().Give(target) }

// Unwrap returns ErrBinary: such a file is left out wherever binary files are.
func (utf16Error) Unwrap() error { return ErrBinary }

// refuseBinary returns the error for a file that begins with head, if the file looks binary and must not.
func refuseBinary(refusal error, head []byte) error {
	switch {
	case refusal == nil || !fsutil.IsBinary(head):
		return nil
	case charset.Marked(head) != charset.UTF8:
		return utf16Error{}
	}
	return refusal
}

// inEncoding returns the splices of a text that is stored in an encoding: find works on it as UTF-8. The whole file is
// in memory, unless it is UTF-8.
func inEncoding(e charset.Encoding, text match.Content, refusal error,
	find func(match.Content) ([]change.Splice, error)) ([]change.Splice, error) {
	if e == charset.UTF8 {
		return find(text)
	}
	t, err := decodedText(e, text, refusal)
	if err != nil {
		return nil, err
	}
	splices, err := find(match.Bytes(t.UTF8))
	if err != nil {
		return nil, err
	}
	return t.Splices(splices)
}

// decodedText reads a text that is stored in an encoding.
func decodedText(e charset.Encoding, text match.Content, refusal error) (*charset.Text, error) {
	data, err := text.Bytes(math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if of := e.Of(data); of == charset.UTF8 || of == charset.Latin1 {
		if err := refuseBinary(refusal, data); err != nil {
			return nil, err
		}
	}
	return e.Decode(data)
}

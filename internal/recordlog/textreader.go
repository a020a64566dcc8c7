package recordlog

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
)

// Line is a line of a [Text].
type Line struct {
	Ordinal int
	// Text is the line without its end. It is valid until the next call.
	Text []byte
}

// ReadText calls each for the lines of a file, as long as it returns true. It reads at most [MaxText] bytes, and skips
// everything except complete lines in the format of a Text.
func ReadText(file io.Reader, each func(Line) bool) error {
	in := bufio.NewReaderSize(io.LimitReader(file, MaxText), 2*maxTextLine)
	for tooLong := false; ; {
		line, err := in.ReadSlice('\n')
		switch err {
		case nil:
			if l, ok := cutText(line[:len(line)-1]); ok && !tooLong && !each(l) {
				return nil
			}
			tooLong = false
		case bufio.ErrBufferFull:
			tooLong = true
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

func cutText(line []byte) (l Line, ok bool) {
	ordinal, rest, _ := bytes.Cut(line, []byte(" "))
	_, text, ok := bytes.Cut(rest, []byte(" ")) // the time is for people who read the file
	n, err := strconv.Atoi(string(ordinal))
	if !ok || err != nil || n < 0 {
		return l, false
	}
	return Line{Ordinal: n, Text: text}, true
}

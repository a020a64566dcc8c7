package tty

import (
	"os"

	"golang.org/x/term"
)

// Columns returns the number of columns of a terminal, which is a stream or a [Device]. It is 0 for anything else, and
// for a terminal without a size.
func Columns(stream any) int {
	if d, ok := stream.(*Device); ok {
		stream = d.out
	}
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

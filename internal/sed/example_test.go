package sed_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/millrace-go/millrace/internal/sed"
)

func Example() {
	s, err := sed.Parse([]string{`/^#/!s/\b(colou?r) = (\w+)/\2 = \U\1/g`}, sed.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stats, err := s.Copy(os.Stdout, strings.NewReader("# colour = red\ncolour = red, color = blue\n"))
	fmt.Println(stats.Replacements, "substitutions in", stats.Lines, "lines", err)
	// Output:
	// # colour = red
	// red = COLOUR, blue = COLOR
	// 2 substitutions in 2 lines <nil>
}

func ExampleScript_Apply() {
	s, err := sed.Parse([]string{`s/,/;/g`}, sed.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.Apply([]byte("a,b\nc\nd,e\n"), func(start, end int64, text []byte) error {
		fmt.Printf("bytes %d to %d become %q\n", start, end, text)
		return nil
	})
	fmt.Println(err)
	// Output:
	// bytes 1 to 2 become ";"
	// bytes 7 to 8 become ";"
	// <nil>
}

func ExampleParse() {
	_, err := sed.Parse([]string{"s/a/b/", "/x/{\n  w out\n}"}, sed.Options{})
	fmt.Println(err)
	// Output:
	// script 2, line 2, column 3: the command `w' is not supported (it writes files)
}

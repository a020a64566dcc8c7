package sed_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/sed"
)

func ExampleScript_Apply() {
	s, err := sed.Parse([]string{`s/,/;/g`}, sed.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.Apply(context.Background(), strings.NewReader("a,b\nc\nd,e\n"), sed.Bounds{}, func(start, end int64, text []byte) error {
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

package sed_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millrace-go/millrace/internal/sed"
)

// source returns about 8 MiB of lines. One line in every `every` lines has the word colour.
func source(every int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	words := []string{"func", "return", "err", "nil", "the", "of", "été", "value", "index", "0x7f", "range", "=="}
	var b bytes.Buffer
	for i := 0; b.Len() < 8<<20; i++ {
		for range 4 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		if i%every == 0 {
			b.WriteString("colour")
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkApply(b *testing.B) {
	for _, every := range []int{1 << 30, 1000, 10} {
		src := source(every)
		for _, script := range []string{`s/colour/color/g`, `s/\<colou?r\>/x/`, `s/[cx][^ ]lour/x/`, `s/(c)(o|l)+ur/\2\1/`, `2,$s/colour/x/`, `/colour/d`, `s/\w+/\u&/g`} {
			s := parse(b, sed.Options{}, script)
			b.Run(fmt.Sprintf("one in %d/%s", every, script), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Apply(b.Context(), bytes.NewReader(src), sed.Bounds{}, func(int64, int64, []byte) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sed.Parse([]string{`/^func (\w+)/,/^}/s/\<(err|e)\> := ([^;]+);/\2 = \1/g`}, sed.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

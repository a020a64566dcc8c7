package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The text that is searched in generated files, and its replacement. Random lines never contain them.
const (
	needle = "hayNeedle"
	thread = "hayLongThread"
)

// vocabulary has the words of generated lines. The letters of the needle are about as frequent in it as in the corpus.
var vocabulary = []string{
	"ctx", "err", "nil", "return", "if", "for", "range", "func", "value", "request", "response", "client",
	"context.Context", "string",
	"int64", "error", "options", "fmt.Errorf", "len", "append", "items", "result", "make", "map[string]string",
	"switch", "case", "default",
	"struct", "interface{}", "json", "omitempty", "http.Request", "url", "time.Duration", ":=", "=", "!=", "==", "{",
	"}", "(", ")", "//",
	"NewReader", "policy", "haystack",
}

// lines makes n lines of Go-like text.
func lines(rng *rand.Rand, n int) []string {
	all := make([]string, n)
	for i := range all {
		var line strings.Builder
		line.WriteString("\t\t\t"[:rng.IntN(4)])
		for w := range 2 + rng.IntN(9) {
			if w > 0 {
				line.WriteString(" ")
			}
			line.WriteString(vocabulary[rng.IntN(len(vocabulary))])
		}
		all[i] = line.String() + "\n"
	}
	return all
}

// generateTree writes files of about size bytes, a hundred in a directory. Every tenth file has places needles, as far
// apart as possible; with all set, every file has them.
func generateTree(dir string, files, size, places int, all bool, seed uint64) error {
	for i := 0; i < files; i += 100 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("d%04d", i/100)), 0o755); err != nil {
			return err
		}
	}
	stock := lines(rand.New(rand.NewPCG(seed, 0)), 4096)
	return each(files, func(i int) error {
		k := 0
		if all || i%10 == 0 {
			k = places
		}
		name := filepath.Join(dir, fmt.Sprintf("d%04d", i/100), fmt.Sprintf("f%06d.go", i))
		return generateFile(name, rand.New(rand.NewPCG(seed, uint64(i)+1)), stock, int64(size), k)
	})
}

// generateFile writes a file of at least size bytes made of lines of a stock, with some needles spread over it.
func generateFile(name string, rng *rand.Rand, stock []string, size int64, places int) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	written, put := int64(0), 0
	for written < size || put < places {
		line := stock[rng.IntN(len(stock))]
		if put < places && written >= size*int64(put)/int64(places) {
			line = "\tx := " + needle + "(ctx, " + line
			put++
		}
		n, err := io.WriteString(w, line)
		if err != nil {
			f.Close()
			return err
		}
		written += int64(n)
	}
	return cmp.Or(w.Flush(), f.Close())
}

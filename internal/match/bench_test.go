package match_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// corpus returns about 16 MiB of Go source, in files.
func corpus(b *testing.B) (files [][]byte, size int64) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no Go source to search:", err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || size > 16<<20 {
			return err
		}
		data, err := os.ReadFile(path)
		files, size = append(files, data), size+int64(len(data))
		return err
	})
	if err != nil || len(files) == 0 {
		b.Skip("no Go source to search:", err)
	}
	return files, size
}

// overFiles benchmarks a function that is called with each file. It reports the sum of the results.
func overFiles(b *testing.B, files [][]byte, size int64, unit string, do func(data []byte) int) {
	b.SetBytes(size)
	b.ReportAllocs()
	total := 0
	for b.Loop() {
		total = 0
		for _, data := range files {
			total += do(data)
		}
	}
	b.ReportMetric(float64(total), unit)
}

func mustCompile(b *testing.B, pattern string, mode match.Mode, flags match.Flags) *match.Pattern {
	b.Helper()
	p, err := match.Compile(pattern, mode, flags)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func countOf(b *testing.B, p *match.Pattern) func([]byte) int {
	return func(data []byte) int {
		n, err := p.Count(context.Background(), match.Bytes(data), match.How{})
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
}

func BenchmarkLiteral(b *testing.B) {
	files, size := corpus(b)
	for _, needle := range []string{
		"ioutil.ReadAll", "recieve", "errors.New", "http.StatusOK", "interface{}", "context.Background", "return nil, err", "e the ", "TODO", "zzzq",
	} {
		name := strings.ReplaceAll(needle, " ", "_")
		b.Run(name+"/match", func(b *testing.B) {
			p := mustCompile(b, needle, match.Literal, match.Flags{})
			overFiles(b, files, size, "matches", countOf(b, p))
		})
		b.Run(name+"/ignoring case", func(b *testing.B) {
			p := mustCompile(b, needle, match.Literal, match.Flags{IgnoreCase: true})
			overFiles(b, files, size, "matches", countOf(b, p))
		})
		b.Run(name+"/bytes", func(b *testing.B) {
			text := []byte(needle)
			overFiles(b, files, size, "matches", func(data []byte) int { return bytes.Count(data, text) })
		})
	}
}

func BenchmarkRegex(b *testing.B) {
	files, size := corpus(b)
	for _, source := range []string{
		`func \(\w+ \*(\w+)\) Close\(\) error`, `(\w+)\.ReadAll\((\w+)\)`, `\b[A-Z]\w+Set(Id|Name)\b`, `(?i)recieve`, `(?i)workspace`,
		`(?m)^\s*//\s*TODO.*$`, `[a-z]{3}[0-9]{4}[a-z]{2}`, `fmt\.(Print|Sprint|Fprint)(f|ln)?\(`, `\w+Error\(`, `if err := [^;]+; err`, `\w+`,
	} {
		p := mustCompile(b, source, match.Regex, match.Flags{})
		b.Run(source+"/contains", func(b *testing.B) {
			overFiles(b, files, size, "files", func(data []byte) int {
				if contains(p, data) {
					return 1
				}
				return 0
			})
		})
		b.Run(source+"/count", func(b *testing.B) { overFiles(b, files, size, "matches", countOf(b, p)) })
		b.Run(source+"/all", func(b *testing.B) {
			overFiles(b, files, size, "matches", func(data []byte) (n int) {
				if err := each(context.Background(), p, data, func([]int) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
				return n
			})
		})
		b.Run(source+"/regexp", func(b *testing.B) {
			re := regexp.MustCompile(source)
			overFiles(b, files, size, "matches", func(data []byte) int { return len(re.FindAllIndex(data, -1)) })
		})
	}
}

// BenchmarkCompile measures the cost of a pattern before the first file.
func BenchmarkCompile(b *testing.B) {
	for _, source := range []string{`errors.New`, `func \(\w+ \*(\w+)\) Close\(\) error`, `(?i)workspace`, `\pL+\pN`} {
		b.Run(source, func(b *testing.B) {
			b.ReportAllocs()
			data := []byte("a short line")
			for b.Loop() {
				contains(mustCompile(b, source, match.Regex, match.Flags{}), data)
			}
		})
	}
}

package actions_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
)

func hexHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func ranges(bounds ...int) []actions.Range {
	var list []actions.Range
	for i := 0; i < len(bounds); i += 2 {
		list = append(list, actions.Range{Start: bounds[i], End: bounds[i+1]})
	}
	return list
}

func TestReadRanges(t *testing.T) {
	const text = "one\r\ntwo\nthree\nfour"
	for _, test := range []struct {
		name        string
		in          string
		read        actions.ReadRanges
		want, bytes string // bytes are the hashed bytes, or those of several hashes with | between them
		fails       string
	}{
		{"whole file", text, actions.ReadRanges{}, text, text, ""},
		{"one line", text, actions.ReadRanges{StartLine: 2, EndLine: 2}, "two\n", "two\n", ""},
		{"from a line", text, actions.ReadRanges{StartLine: 3}, "three\nfour", "three\nfour", ""},
		{"up to a line", text, actions.ReadRanges{EndLine: 1}, "one\r\n", "one\r\n", ""},
		{"from the end", text, actions.ReadRanges{StartLine: -2}, "three\nfour", "three\nfour", ""},
		{"up to the last but one", text, actions.ReadRanges{EndLine: -2}, "one\r\ntwo\nthree\n", "one\r\ntwo\nthree\n", ""},
		{"behind the end is the end", text, actions.ReadRanges{StartLine: 4, EndLine: 99}, "four", "four", ""},
		{"before the start is the start", text, actions.ReadRanges{StartLine: -99, EndLine: 1}, "one\r\n", "one\r\n", ""},
		{"ranges", text, actions.ReadRanges{Ranges: ranges(1, 1, 4, 4)}, "one\n...\nfour", "one\r\n|four", ""},
		{"ranges in any order", text, actions.ReadRanges{Ranges: ranges(3, 3, 1, 2, 2, 2)}, "three\n...\none\r\ntwo\n...\ntwo\n", "three\n|one\r\ntwo\n|two\n", ""},
		{"empty file", "", actions.ReadRanges{}, "", "", ""},
		{"empty file, first line", "", actions.ReadRanges{StartLine: 1, EndLine: 5}, "", "", ""},
		{"empty file, second line", "", actions.ReadRanges{StartLine: 2}, "", "", "a: line number out of range: lines 2 to -1 of 0"},
		{"one newline", "\n", actions.ReadRanges{}, "\n", "\n", ""},
		{"behind the end", text, actions.ReadRanges{StartLine: 5}, "", "", "a: line number out of range: lines 5 to -1 of 4"},
		{"turned round by the end", text, actions.ReadRanges{StartLine: 3, EndLine: -3}, "", "", "a: line number out of range: lines 3 to -3 of 4"},
		{"end before the start of the file", text, actions.ReadRanges{EndLine: -5}, "", "", "a: line number out of range: lines 1 to -5 of 4"},
		{"binary", "a\x00", actions.ReadRanges{}, "", "", "a: is a binary file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, files{"a": test.in})
			stamp := time.Date(2025, 5, 11, 12, 15, 30, 0, time.FixedZone("", 7200))
			if err := b.stage.Base().Chtimes("a", stamp, stamp); err != nil {
				t.Fatal(err)
			}
			out, err := b.run("s", test.read, []string{"a"})
			if test.fails != "" {
				wantError(t, err, test.fails)
				if text := "line number out of range: "; !strings.Contains(err.Error(), text) && test.name != "binary" {
					t.Errorf("%v has no %q", err, text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			report := actions.FileReport{Path: "a", Success: true, ContentHash: hexHash(test.in), LastModified: stamp.UTC()}
			if parts := strings.Split(test.bytes, "|"); len(parts) > 1 {
				for _, part := range parts {
					report.RangeHashes = append(report.RangeHashes, hexHash(part))
				}
			} else {
				report.RangeHash = hexHash(test.bytes)
			}
			equal(t, "outcome", out, actions.Outcome{
				Files: []string{"a"}, Content: map[string]string{"a": test.want}, Reports: []actions.FileReport{report},
			})
			if out.Reports[0].LastModified.Location() != time.UTC {
				t.Error("the time is not in UTC")
			}
		})
	}
}

// TestReadRangesIsLines compares with a list of lines.
func TestReadRangesIsLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "a\n", "b\r\n"}), 1, 6).Draw(rt, "lines")
		if rapid.Bool().Draw(rt, "no final newline") {
			lines = append(lines, "end")
		}
		n := len(lines)
		start := rapid.IntRange(1, n).Draw(rt, "start")
		end := rapid.IntRange(start, n).Draw(rt, "end")
		want := strings.Join(lines[start-1:end], "")
		for _, r := range [][2]int{{start, end}, {start - n - 1, end}, {start, end - n - 1}, {start - n - 1, end - n - 1}} {
			b := inMemory(t, files{"a": strings.Join(lines, "")})
			out, err := b.run("s", actions.ReadRanges{StartLine: r[0], EndLine: r[1]}, []string{"a"})
			if err != nil || out.Content["a"] != want {
				rt.Fatalf("lines %v of %q: %q, %v, want %q", r, lines, out.Content["a"], err, want)
			}
		}
	})
}

// TestReadRangesOfNothing: an empty file has no lines, and any number that counts from its end is valid.
func TestReadRangesOfNothing(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a": ""})
	for _, end := range []int{-1, -2, -5} {
		out, err := b.run("s", actions.ReadRanges{EndLine: end}, []string{"a"})
		if text, ok := out.Content["a"]; err != nil || !ok || text != "" {
			t.Errorf("to line %d: %q, %v", end, out.Content, err)
		}
	}
}

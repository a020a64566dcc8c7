package match_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

// TestFinderFallback searches files in which the finder's rare byte is frequent.
func TestFinderFallback(t *testing.T) {
	for _, needle := range []string{"aaab", "baaa", "zzq", "q", "qq", "aqa"} {
		p := compile(t, needle, match.Literal, match.Flags{})
		for _, unit := range []string{"a", "b", "q", "ab", "qa", "zq", "aaa b"} {
			data := []byte(strings.Repeat(unit, 300) + needle + strings.Repeat(unit, 300) + needle)
			n, err := p.Count(context.Background(), match.Bytes(data), match.How{})
			if want := bytes.Count(data, []byte(needle)); n != want || err != nil {
				t.Errorf("%q among %q: %d (%v), want %d", needle, unit, n, err, want)
			}
		}
	}
}

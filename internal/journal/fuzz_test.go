package journal_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
)

// FuzzDecode checks that Decode does not panic, and that every accepted plan can be written again and is safe.
func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample(), nil))
	f.Add([]byte("millrace plan 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := journal.Decode(data, nil)
		if err != nil {
			if _, ok := errors.AsType[*journal.Error](err); !ok {
				t.Fatalf("error is %T", err)
			}
			// The checksums refuse almost everything, so the parts after them also get the bytes.
			p = sample()
			p.Records[0].Path = string(data)
			if p.Validate() != nil {
				return
			}
		}
		for _, r := range p.Records {
			if clean, err := names.Clean(r.Path); err != nil || clean != r.Path || names.Within(r.Path, p.StateDir) {
				t.Fatalf("path %q was accepted", r.Path)
			}
		}
		again, err := journal.Encode(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Decode(again, nil); err != nil {
			t.Fatal(err)
		}
	})
}

package journal_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/journal"
)

// TestKept: a backup keeps everything except what was deleted for good, and a trash keeps what a step deleted.
func TestKept(t *testing.T) {
	t.Parallel()
	changed, deleted, discarded := journal.Record{}, journal.Record{Trash: true}, journal.Record{Permanent: true}
	tests := []struct {
		keep    bool
		records []journal.Record
		kept    []bool
		any     bool
	}{
		{true, []journal.Record{changed, deleted, discarded}, []bool{true, true, false}, true},
		{false, []journal.Record{changed, deleted, discarded}, []bool{false, true, false}, true},
		{true, []journal.Record{discarded}, []bool{false}, false},
		{false, []journal.Record{changed, discarded}, []bool{false, false}, false},
		{true, nil, nil, false},
	}
	for _, tt := range tests {
		p := &journal.Plan{Header: journal.Header{Keep: tt.keep}, Records: tt.records}
		for i := range p.Records {
			if got := p.Kept(&p.Records[i]); got != tt.kept[i] {
				t.Errorf("keep %t, record %+v: kept is %t", tt.keep, p.Records[i], got)
			}
		}
		if got := p.KeepsAny(); got != tt.any {
			t.Errorf("keep %t, records %+v: any is %t", tt.keep, tt.records, got)
		}
	}
}

// TestFarName: files next to paths on other mounts have names that identify the transaction and the record.
func TestFarName(t *testing.T) {
	t.Parallel()
	p := sample()
	p.ID = "20250213_120530_abc123def4567890"
	one, two := journal.Record{Path: "d/e", FarDir: "d", Slot: 1}, journal.Record{Path: "d/f", FarDir: ".", Slot: 12}
	if got := p.FarName(&one); got != "d/.millrace-20250213_120530_abc123def4567890-1" {
		t.Error(got)
	}
	if got := p.FarName(&two); got != ".millrace-20250213_120530_abc123def4567890-12" {
		t.Error(got)
	}
}

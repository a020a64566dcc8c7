package journal_test

import (
	"testing"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestAdopt: a plan in the directory where it was made keeps its facts about files; a copied plan identifies files only
// by their bytes.
func TestAdopt(t *testing.T) {
	t.Parallel()
	plan := func() *journal.Plan {
		p := &journal.Plan{Header: journal.Header{Dev: 1, Ino: 2}}
		p.Records = []journal.Record{{Path: "a", Image: journal.Linked}, {Path: "b", Image: journal.Copied}}
		for i := range p.Records {
			p.Records[i].Old.ID, p.Records[i].New.ID = capability.Identity{Dev: 1, Ino: 10}, capability.Identity{Dev: 1, Ino: 11}
		}
		return p
	}
	here := plan()
	here.Adopt(capability.Identity{Dev: 7, Ino: 2})
	if r := here.Records[0]; here.Dev != 7 || r.Old.ID != (capability.Identity{Dev: 7, Ino: 10}) || r.Image != journal.Linked {
		t.Errorf("on a device with another number: %d, %+v", here.Dev, r)
	}
	copied := plan()
	copied.Adopt(capability.Identity{Dev: 7, Ino: 3})
	for _, r := range copied.Records {
		if r.Old.ID != (capability.Identity{}) || r.New.ID != (capability.Identity{}) || r.Image != journal.Copied {
			t.Errorf("in a copy of the tree: %+v", r)
		}
	}
	if copied.Dev != 7 || copied.Ino != 3 {
		t.Errorf("the copy is taken for %d, %d", copied.Dev, copied.Ino)
	}
}

func TestTimeOf(t *testing.T) {
	t.Parallel()
	if got, want := journal.TimeOf("20250213_120530_abc123def"), time.Date(2025, 2, 13, 12, 5, 30, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, id := range []string{"", "x", "20251313_120530_abc123def"} {
		if got := journal.TimeOf(id); !got.IsZero() {
			t.Errorf("%q has the time %v", id, got)
		}
	}
}

package risk

import "cmp"

// Threshold is the beginning of a level: that many files, or that many edits, whichever is reached first. In each field
// zero means the number of the documented table, a negative number means that this measure never leads to the level. A
// level cannot begin at 0; 1 is the smallest threshold.
type Threshold struct {
	Files int
	Edits int
}

// Policy has the thresholds. The zero value is the documented table:
//
//	MEDIUM    from  30 files or  100 edits
//	HIGH      from  50 files or  500 edits
//	CRITICAL  from  80 files or 1000 edits
//
// Thresholds need not rise with the level: the highest reached level wins. A Policy is a value and safe for concurrent
// use.
type Policy struct {
	Medium   Threshold
	High     Threshold
	Critical Threshold
}

// Assess returns the highest level whose threshold is reached by the number of files or of edits, and Low if none is.
// It never returns Unset; negative numbers count as zero.
func (p Policy) Assess(files, edits int) Level {
	for l := Critical; l > Low; l-- {
		if p.Threshold(l).reached(files, edits) {
			return l
		}
	}
	return Low
}

// Threshold returns the beginning of the level, with the numbers of the documented table filled in. Unset and Low begin
// at 0: their threshold is the zero Threshold.
func (p Policy) Threshold(l Level) Threshold {
	// The documented table. Its row for LOW has "<30 files OR <100 edits", which taken literally overlaps all other rows;
	// a change is Low if it is below both.
	var t, table Threshold
	switch l {
	case Medium:
		t, table = p.Medium, Threshold{30, 100}
	case High:
		t, table = p.High, Threshold{50, 500}
	case Critical:
		t, table = p.Critical, Threshold{80, 1000}
	case Unset, Low:
	}
	return Threshold{Files: cmp.Or(t.Files, table.Files), Edits: cmp.Or(t.Edits, table.Edits)}
}

func (t Threshold) reached(files, edits int) bool {
	return t.Files > 0 && files >= t.Files || t.Edits > 0 && edits >= t.Edits
}

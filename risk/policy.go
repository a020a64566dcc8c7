package risk

// The documented table. The table's row for LOW says "<30 files OR <100 edits", which taken literally
// overlaps all other rows; a change is Low if it is below both.
const (
	mediumFiles, mediumEdits     = 30, 100
	highFiles, highEdits         = 50, 500
	criticalFiles, criticalEdits = 80, 1000
)

// Threshold is where a level begins: at that many files, or at that many edits, whichever is reached first. In each
// field zero means the number of the documented table, a negative number that this measure never leads to the level.
// A level that begins at nothing at all cannot be written; 1 is the smallest threshold.
type Threshold struct {
	Files int
	Edits int
}

// Policy holds the thresholds. The zero value is the documented table:
//
//	MEDIUM    from  30 files or  100 edits
//	HIGH      from  50 files or  500 edits
//	CRITICAL  from  80 files or 1000 edits
//
// Thresholds need not rise with the level: the highest level that is reached wins. A Policy is a value and safe for
// concurrent use.
type Policy struct {
	Medium   Threshold
	High     Threshold
	Critical Threshold
}

// Assess returns the highest level whose threshold is reached by the number of files or by the number of edits, and Low
// if none is. It never returns Unset; negative numbers count as zero.
func (p Policy) Assess(files, edits int) Level {
	for l := Critical; l > Low; l-- {
		if p.Threshold(l).reached(files, edits) {
			return l
		}
	}
	return Low
}

// Threshold returns where the level begins, with the numbers of the documented table filled in. Unset and Low begin at
// nothing: their threshold is the zero Threshold.
func (p Policy) Threshold(l Level) Threshold {
	switch l {
	case Medium:
		return p.Medium.or(mediumFiles, mediumEdits)
	case High:
		return p.High.or(highFiles, highEdits)
	case Critical:
		return p.Critical.or(criticalFiles, criticalEdits)
	case Unset, Low:
	}
	return Threshold{}
}

func (t Threshold) or(files, edits int) Threshold {
	if t.Files == 0 {
		t.Files = files
	}
	if t.Edits == 0 {
		t.Edits = edits
	}
	return t
}

func (t Threshold) reached(files, edits int) bool {
	return t.Files > 0 && files >= t.Files || t.Edits > 0 && edits >= t.Edits
}

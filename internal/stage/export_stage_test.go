package stage

import (
	"slices"
	"time"
)

// SetLimits sets the maximum bytes that a stage holds of staged files and of files that were read.
func SetLimits(s *Stage, spillAt, cache int64) {
	s.core.spillAt = spillAt
	s.core.base.cache.limit = cache
}

// Spilled returns the size of the spill file of a stage.
func Spilled(s *Stage) int64 { return s.core.temp.end }

// SpillOf returns the spill of a stage.
func SpillOf(s *Stage) Spill { return s.core.spill }

// Forge makes a delta from lists of items, each with numbers, texts, times and bytes.
func Forge(depth int, parent []byte, seq int, lists map[int][][]any) []byte {
	f := form{[]byte{deltaVersion}}
	digest := deltaDigest{}
	if parent != nil {
		digest = digestOf(parent)
	}
	f.raw(digest[:])
	f.num(depth)
	if depth == 0 {
		f.time(time.Unix(1, 0))
		f.text("nonce")
	}
	f.num(seq)
	for i := range partCount {
		f.num(len(lists[i]))
		for _, item := range lists[i] {
			for _, value := range item {
				switch v := value.(type) {
				case int:
					f.num(v)
				case uint64:
					f.num64(v)
				case string:
					f.text(v)
				case []byte:
					f.raw(v)
				case time.Time:
					f.time(v)
				}
			}
		}
	}
	return f.buf
}

// SetMaxMatched sets the maximum number of matched files on which a run may rest.
func SetMaxMatched(k *Keeper, n int) { k.most = n }

// Following returns the delta as if it followed the parent, or as the first delta without a parent.
func Following(parent, delta []byte) []byte {
	digest, depth := deltaDigest{}, byte(0)
	if parent != nil {
		digest, depth = digestOf(Following(nil, parent)), 1
	}
	if len(delta) < 10 {
		return delta
	}
	return slices.Concat(delta[:1], digest[:], []byte{depth}, delta[10:])
}

// The lists of a delta, for Forge.
const (
	PartSteps  = partSteps
	PartFacts  = partFacts
	PartSums   = partSums
	PartTaken  = partTaken
	PartHides  = partHides
	PartPages  = partPages
	PartBodies = partBodies
	PartNodes  = partNodes
	PartLinks  = partLinks
	PartMetas  = partMetas
	PartSlots  = partSlots
)

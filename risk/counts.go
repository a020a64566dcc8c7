package risk

// Counts is the number of changes of each level. Changes without a level are not counted. The zero Counts has no
// change.
type Counts struct {
	Low      int `json:"LOW"`
	Medium   int `json:"MEDIUM"`
	High     int `json:"HIGH"`
	Critical int `json:"CRITICAL"`
}

// Add counts a level a number of times; a negative number subtracts. Unset, and a value that is not a level, change
// nothing.
func (c *Counts) Add(l Level, times int) {
	switch l {
	case Low:
		c.Low += times
	case Medium:
		c.Medium += times
	case High:
		c.High += times
	case Critical:
		c.Critical += times
	case Unset:
	}
}

// Highest returns the highest level that was counted, Unset for none.
func (c Counts) Highest() Level {
	switch {
	case c.Critical > 0:
		return Critical
	case c.High > 0:
		return High
	case c.Medium > 0:
		return Medium
	case c.Low > 0:
		return Low
	}
	return Unset
}

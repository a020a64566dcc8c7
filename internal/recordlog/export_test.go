package recordlog

// NewTextWithin is NewText with other limits, of the file and of a job.
func NewTextWithin(open func() (File, error), full, most int64) *Text {
	t := NewText(open)
	t.full, t.most = full, most
	return t
}

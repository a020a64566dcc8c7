package ignore

// Rules returns a copy of the rules, in the order of the file. Lines that can match nothing at all are not among them.
func (f *File) Rules() []Rule { return append([]Rule(nil), f.rules...) }

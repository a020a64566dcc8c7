package ignore

// Rules returns a copy of the rules, in the order of the file, without lines that can match nothing.
func (f *File) Rules() []Rule { return append([]Rule(nil), f.rules...) }

package actions

// SetPieces sets from which size on files are read piece by piece, in pieces of what size, and with lines of at most what
// length.
func SetPieces(c *Call, from int64, window, maxLine int) { c.pieces = pieces{from, window, maxLine} }

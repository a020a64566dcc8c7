package stage

// How much of anything there may be, and from where on something is done in another way. All are bytes.
const (
	maxInMemory = 1<<31 - 1 // of one file that is held as a whole
	maxFile     = 1 << 40   // of one file on the stage

	maxPooled = 1 << 20   // of a file that is read into memory which is used again
	pageSize  = 128 << 10 // of a page; the last one of a file may be shorter
	copySize  = 64 << 10  // of the buffer through which a hash is worked out

	defaultSpillAt = 64 << 20 // of files written as a whole; more goes to a temporary file
	defaultCache   = 8 << 20  // of files that were read

	// A file is held as splices over its base where these cost not much more than its bytes would.
	perSplice    = 96        // in memory, of a splice without its text, about
	alwaysSplice = 256 << 10 // this much is never too much
)

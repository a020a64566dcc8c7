//go:build !unix

package main

import (
	"os"
	"time"
)

// peakRSS is not known here.
func peakRSS(*os.ProcessState) int64 { return 0 }

// userTime is not known here.
func userTime() time.Duration { return 0 }

//go:build !unix

package main

import (
	"os"
	"time"
)

// peakRSS is unknown on this system.
func peakRSS(*os.ProcessState) int64 { return 0 }

// userTime is unknown on this system.
func userTime() time.Duration { return 0 }

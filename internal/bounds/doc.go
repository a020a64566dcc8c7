// Package bounds tests that no pipeline costs more than it may: generated pipelines of up to 64 KiB that ask for too
// much, on trees of 10 MB, under the default limits, each in a process whose memory and time are watched.
//
// It has no code outside of tests.
package bounds
